// memory.h - the memories of the device: the launch's arrays, the blocks' shared memory, and who may touch what.
#pragma once
#include "machine.h"
#include "report.h"
#include "shadow.h"

namespace emu {

struct GlobalArray {
  char* base;
  size_t bytes;
  std::string name;
  std::unique_ptr<Shadow> shadow;
};

void reserve_shared_memory();  // one window an SM
void add_global_array(char* base, size_t bytes, const std::string& name);
void add_readable(const void* low, const void* high);  // the kernel's own constants, its arguments
GlobalArray* find_global(const void* p);
Block* block_of_shared(const void* p);  // null: not a resident block's window

// An ordinary access by the running thread.
void access(const void* p, unsigned bytes, bool write, Place place);
// The same, of an atomic or volatile access: ordered with others of its kind.
void special_access(const void* p, unsigned bytes, bool write, Place place, Access how);
// An access that another actor makes for the running thread.
void access_as(const Actor& actor, const void* p, unsigned bytes, bool write);
// The running thread uses shared memory, or a barrier, of another block of its cluster: that one must have started, and may not
// have exited.
void remote_access(Thread* t, Block* b, Where where);
void forget_published(const void* low, size_t bytes);  // a new block: its flags have told nobody anything
// Shared memory [offset, offset + bytes) must be the block's own: stops the launch if not.
void check_shared_bounds(const Block* b, unsigned offset, unsigned bytes, const char* what, Where where);
std::string find_barrier_text(const Block* b, unsigned offset);  // the mbarrier in these bytes, or ""
std::string describe_shared(const Block* b, unsigned offset);
std::string describe_address(const void* p);

}  // namespace emu
