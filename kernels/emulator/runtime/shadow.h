// shadow.h - for every byte, who wrote it last and who has read it since: finds accesses that nothing orders.
#pragma once
#include <stddef.h>

#include <memory>
#include <vector>

#include "clocks.h"
#include "report.h"

namespace emu {

struct Thread;

// Atomic accesses race with plain ones alone; volatile ones as well, but for the lanes of one warp, which nothing keeps in
// step.
enum class Access : uint8_t { PLAIN, ATOMIC, VOLATILE };

// One access as the checker sees it.
struct Actor {
  Epoch epoch;           // the acting entity and its clock
  const Thread* issuer;  // whose knowledge orders it
  bool own;              // the issuer's own writes count as ordered (false: other threads act too)
  bool async;            // through the async proxy (TMA, wgmma)
  Access how;
  Place place;
  const std::vector<const Thread*>* all = nullptr;  // all of them must know it, not the issuer alone
  // The last write that was asked for: neighbours have the same.
  mutable Epoch asked;
  mutable bool answer_seen = false, answer_fenced = false;
};

struct Memory {        // what a shadow belongs to, for the reports
  const Block* block;  // shared memory, or null
  const char* base;
  const char* name;
};

class Shadow {
 public:
  // initialised: the bytes hold values before the launch (arrays); otherwise reading them unwritten is a finding.
  Shadow(size_t bytes, bool initialised);
  ~Shadow();
  void forget();  // a new block: nobody has touched anything
  void read(const Memory& m, size_t offset, size_t bytes, const Actor& a);
  void write(const Memory& m, size_t offset, size_t bytes, const Actor& a);

 private:
  struct Write {
    Epoch epoch;
    Place place;
  };
  // What has happened since the last plain write: reads, atomics, volatiles. Threads of one warp that did the same at the same
  // clock are one entry (epoch: lane 0's entity, whatever the lane).
  struct Since {
    Epoch epoch;
    uint32_t lanes;
    Access how;
    bool write;
    Place place;
  };
  struct Cell {
    Write last_write;  // plain
    Since* since = nullptr;
    uint32_t count = 0, capacity = 0;
    bool async_write = false, written = false, special_writes = false;  // the last: some of `since` write
  };
  struct Chunk {  // 16 bytes, as one cell until someone touches a part
    uint32_t generation = 0;
    uint8_t unit = 16;  // bytes a cell
    Cell whole;
    std::unique_ptr<Cell[]> parts;
  };
  template <class F>
  void each_cell(size_t offset, size_t bytes, F f);
  Chunk* chunk(size_t i);
  void split(Chunk* c, uint8_t unit);
  void add(Cell& c, const Actor& a, bool write);
  void ask(const Actor& a, Epoch write, bool global) const;
  bool conflicts(const Memory& m, const Cell& c, size_t offset, const Actor& a, bool write);
  void report(const char* rule, const Memory& m, size_t offset, const Actor& a, bool a_writes, const Write& other,
              bool other_wrote);

  size_t chunks_;
  bool initialised_;
  uint32_t generation_ = 1;
  std::vector<std::unique_ptr<Chunk[]>> pages_;  // of 256 chunks, made when touched
};

}  // namespace emu
