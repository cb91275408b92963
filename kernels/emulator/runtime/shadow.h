// shadow.h - for every byte, who wrote it last and who has read it since: finds accesses that nothing orders.
#pragma once
#include <stddef.h>

#include <memory>
#include <vector>

#include "clocks.h"
#include "report.h"

namespace emu {

struct Thread;

// One access as the checker sees it.
struct Actor {
  Epoch epoch;           // the acting entity and its clock
  const Thread* issuer;  // whose knowledge orders it
  bool own;              // the issuer's own writes count as ordered (false: other threads act too)
  bool async;            // through the async proxy (TMA, wgmma)
  bool atomic;           // ordered with other atomics
  Place place;
};

struct Memory {        // what a shadow belongs to, for the reports
  const Block* block;  // shared memory, or null
  const char* base;
  const char* name;
};

class Shadow {
 public:
  // initialised: the bytes hold values before the launch (arrays); otherwise reading them unwritten is a finding.
  Shadow(size_t bytes, bool initialised, size_t max_readers);
  ~Shadow();
  void forget();  // a new block: nobody has touched anything
  void read(const Memory& m, size_t offset, size_t bytes, const Actor& a);
  void write(const Memory& m, size_t offset, size_t bytes, const Actor& a);

 private:
  struct Access {
    Epoch epoch;
    Place place;
  };
  // Who has read: threads of one warp that did so at the same clock are one entry (epoch: lane 0's entity, whatever the lane).
  struct Reader {
    Epoch epoch;
    uint32_t lanes;
    Place place;
  };
  struct Cell {
    Access last_write;
    Reader* readers = nullptr;
    uint16_t count = 0, capacity = 0;
    bool async_write = false, atomic_write = false, atomic_readers = false, written = false;
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
  void add_reader(Cell& c, const Actor& a);
  void report(const char* rule, const Memory& m, size_t offset, const Actor& a, bool a_writes, const Access& other,
              bool other_wrote);

  size_t chunks_, max_readers_;
  bool initialised_;
  uint32_t generation_ = 1;
  std::vector<std::unique_ptr<Chunk[]>> pages_;  // of 256 chunks, made when touched
};

}  // namespace emu
