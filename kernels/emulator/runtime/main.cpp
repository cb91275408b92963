// The runner: one process, one launch. Reads the launch's description, maps its arrays, loads the kernel's library, runs the
// grid, writes the result. The description is lines of words; process.py writes it.
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "memory.h"
#include "scheduler.h"
#include "signals.h"
#include "tma.h"

namespace emu {
namespace {

struct Argument {
  std::string kind;  // array, null, map, bytes, int, float
  std::vector<unsigned char> bytes;
  std::string given;  // for messages
  int array = -1;     // which array it points into
};

std::string library, entry, result;
std::vector<char*> array_base;
std::vector<Argument> arguments;
int data_file = -1;

Dim3 read_dim(std::istringstream& in) {
  Dim3 d{1, 1, 1};
  in >> d.x >> d.y >> d.z;
  return d;
}

constexpr size_t GUARD = 1 << 20;

// An array's pages, between stretches of addresses that nobody may touch.
void map_array(std::istringstream& in) {
  size_t file_offset, region, start, bytes;
  in >> file_offset >> region >> start >> bytes;
  std::string name;
  std::getline(in, name);
  char* p = (char*)mmap(nullptr, region + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED ||
      mmap(p + GUARD, region, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, data_file, (off_t)file_offset) == MAP_FAILED)
    stop("crash", "memory", "The launch's arrays could not be mapped.");
  array_base.push_back(p + GUARD + start);
  add_global_array(p + GUARD + start, bytes, name.substr(1));
}

template <class T>
void append(std::vector<unsigned char>& out, T v) {
  const unsigned char* p = (const unsigned char*)&v;
  out.insert(out.end(), p, p + sizeof v);
}

void read_argument(std::istringstream& in) {
  Argument a;
  in >> a.kind;
  if (a.kind == "array") {
    size_t index, offset;
    in >> index >> offset;
    a.array = (int)index;
    append(a.bytes, array_base[index] + offset);
  } else if (a.kind == "null") {
    append(a.bytes, (void*)nullptr);
  } else if (a.kind == "map") {
    HostTensorMap m = {};
    size_t index, offset;
    m.magic = TENSOR_MAP_MAGIC;
    in >> index >> offset >> m.columns >> m.rows >> m.row_bytes >> m.box_columns >> m.box_rows >> m.element_bytes >> m.swizzle;
    a.array = (int)index;
    m.base = (uint64_t)(array_base[index] + offset);
    append(a.bytes, m);
  } else if (a.kind == "int") {
    uint64_t v;  // two's complement
    in >> v;
    append(a.bytes, v);
  } else if (a.kind == "float") {
    uint64_t v;  // a double's bits: streams read neither NaN nor infinity
    in >> v;
    append(a.bytes, v);
  } else {  // floatbytes, intbytes, bytes: a typed scalar
    std::string hex;
    in >> hex;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
      a.bytes.push_back((unsigned char)strtol(hex.substr(i, 2).c_str(), nullptr, 16));
  }
  std::getline(in, a.given);
  arguments.push_back(a);
}

void read_launch(const char* path) {
  std::ifstream file(path);
  std::string line;
  Options& o = machine.options;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "library") in.get(), std::getline(in, library);
    else if (word == "result") in.get(), std::getline(in, result), result_goes_to(result.c_str());
    else if (word == "entry") in >> entry;
    else if (word == "grid") o.grid = read_dim(in);
    else if (word == "block") o.block = read_dim(in);
    else if (word == "cluster") o.cluster = read_dim(in);
    else if (word == "shared") in >> o.shared_bytes;
    else if (word == "registers") in >> o.registers;
    else if (word == "sms") in >> o.sms;
    else if (word == "seed") in >> o.seed;
    else if (word == "timeout") in >> o.timeout;
    else if (word == "checks") in >> o.checks;
    else if (word == "trace") in >> o.trace;
    else if (word == "fp8_reduced") in >> o.fp8_reduced;
    else if (word == "policy") {
      std::string pick, copies, mma;
      in >> pick >> copies >> mma;
      auto when = [](const std::string& s) {
        return s == "early" ? When::EARLY : s == "late" ? When::LATE : s == "timed" ? When::TIMED : When::RANDOM;
      };
      o.pick = pick == "rr" ? Pick::ROUND_ROBIN : pick == "pct" ? Pick::PCT : pick == "timed" ? Pick::TIMED : Pick::RANDOM;
      o.copies = when(copies);
      o.mma = when(mma);
    } else if (word == "data") {
      std::string name;
      in.get();
      std::getline(in, name);
      data_file = open(name.c_str(), O_RDWR);
    } else if (word == "array") map_array(in);
    else if (word == "argument") read_argument(in);
  }
}

// Whether 8 bytes of two's complement keep their value in the parameter's lowest `bytes`, signed or not.
bool fits_integer(const unsigned char* value, unsigned bytes) {
  int64_t v;
  memcpy(&v, value, 8);
  if (bytes >= 8) return true;
  return v >= -(int64_t(1) << (8 * bytes - 1)) && v < (int64_t(1) << 8 * bytes);
}

// The kernel's parameters as its library describes them, from the arguments given.
void fit_arguments() {
  const Kernel* k = machine.kernel;
  if (arguments.size() != k->count)
    stop("argument", "argument-count",
         text("%s has %u parameters; the launch gives %zu arguments.", entry.c_str(), k->count, arguments.size()));
  static std::vector<void*> pointers;
  std::vector<bool> may_be_written(array_base.size());
  for (unsigned i = 0; i < k->count; ++i) {
    const Parameter p = k->parameters[i];
    Argument& a = arguments[i];
    const char* expected = p.kind == 'p' || p.kind == 'c' ? "a pointer"
                           : p.kind == 'm'                ? "a TensorMap"
                           : p.kind == 'f'                ? "a floating-point number"
                           : p.kind == 'i'                ? "an integer"
                                                          : "a struct";
    const bool pointer = a.kind == "array" || a.kind == "null",
               typed = a.kind == "floatbytes" || a.kind == "intbytes" || a.kind == "bytes";
    bool fits = p.kind == 'p' || p.kind == 'c' ? pointer : p.kind == 'm' ? a.kind == "map" : !pointer && a.kind != "map";
    if (p.kind == 'i') fits = a.kind == "int" || (a.kind == "intbytes" && a.bytes.size() == p.bytes);
    if (p.kind == 'f') fits = a.kind == "int" || a.kind == "float" || (a.kind == "floatbytes" && a.bytes.size() == p.bytes);
    if (p.kind == 'o') fits = typed && a.bytes.size() == p.bytes;
    if (!fits)
      stop("argument", "argument-type",
           text("%s: parameter %u is %s of %u bytes; the argument is%s.", entry.c_str(), i + 1, expected, p.bytes,
                a.given.c_str()));
    if (a.kind == "int" && p.kind == 'i' && !fits_integer(a.bytes.data(), p.bytes))
      stop("argument", "argument-value",
           text("%s: parameter %u is an integer of %u bytes; the argument is%s.", entry.c_str(), i + 1, p.bytes,
                a.given.c_str()));
    if (a.array >= 0 && p.kind != 'c') may_be_written[(size_t)a.array] = true;
    double number = 0;
    if (a.kind == "float") memcpy(&number, a.bytes.data(), 8);
    if (a.kind == "int" && p.kind == 'f') {
      long long v;
      memcpy(&v, a.bytes.data(), 8);
      number = (double)v;
    }
    if (p.kind == 'f' && !typed) {
      a.bytes.clear();
      if (p.bytes == 4) append(a.bytes, (float)number);
      else append(a.bytes, number);
    }
    void* copy = aligned_alloc(128, 1024);
    memcpy(copy, a.bytes.data(), a.bytes.size() < 1024 ? a.bytes.size() : 1024);
    add_readable(copy, (char*)copy + 1024);
    pointers.push_back(copy);
  }
  for (size_t i = 0; i < array_base.size(); ++i)
    if (!may_be_written[i]) find_global(array_base[i])->shadow.reset();  // only read: no order to check
  machine.arguments = pointers.data();
  add_readable(pointers.data(), pointers.data() + pointers.size());
}

int add_library(dl_phdr_info* info, size_t, void* inside) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    const char* low = (const char*)info->dlpi_addr + h.p_vaddr;
    if (h.p_type != PT_LOAD || (const char*)inside < low || (const char*)inside >= low + h.p_memsz) continue;
    for (int j = 0; j < info->dlpi_phnum; ++j) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[j];
      if (segment.p_type != PT_LOAD) continue;
      if (segment.p_flags & PF_W)  // __device__ variables: watched as the launch's arrays are
        add_global_array((char*)info->dlpi_addr + segment.p_vaddr, segment.p_memsz, "the kernel's __device__ variables");
      else add_readable((char*)info->dlpi_addr + segment.p_vaddr, (char*)info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    note(text("base %llu", (unsigned long long)info->dlpi_addr));  // for the launcher, to translate code addresses
    return 1;
  }
  return 0;
}

void load_kernel() {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) stop("crash", "library", text("The kernel's library cannot be loaded: %s", dlerror()));
  machine.kernel = (const Kernel*)dlsym(handle, ("emu_kernel_" + entry).c_str());
  if (!machine.kernel) stop("argument", "entry", text("The module has no kernel `%s`.", entry.c_str()));
  machine.kernel_name = entry;
  machine.bounds = (const Bounds*)dlsym(handle, ("emu_bounds_" + entry).c_str());
  const void* f = machine.kernel->function;
  machine.capped = f >= machine.kernel->capped_begin && f < machine.kernel->capped_end;
  dl_iterate_phdr(add_library, (void*)f);
  add_readable(&emu_thread, &emu_thread + 1);
}

// The launch against what stands before the kernel's name.
void check_bounds(const Bounds& said) {
  const Options& o = machine.options;
  const unsigned n = machine.threads_per_block();
  if (said.threads && n > said.threads)
    stop("misuse", "launch-bounds",
         text("The launch has %u threads a block; __launch_bounds__ of %s allows %u: such a launch fails.", n, entry.c_str(),
              said.threads));
  if (said.threads && said.blocks > 1 && o.registers && o.registers * said.blocks * ((n + 31) / 32 * 32) > REGISTERS_PER_SM)
    stop("misuse", "launch-bounds",
         text("The launch says that a thread holds %u registers; __launch_bounds__ of %s wants %u blocks of %u threads on an "
              "SM, which leaves %u.",
              o.registers, entry.c_str(), said.blocks, n, REGISTERS_PER_SM / (said.blocks * n)));
  const Dim3& c = said.cluster;
  if (c.x && (c.x != o.cluster.x || c.y != o.cluster.y || c.z != o.cluster.z))
    stop("misuse", "cluster-dims",
         text("The launch makes clusters of %u x %u x %u blocks; __cluster_dims__ of %s says %u x %u x %u.", o.cluster.x,
              o.cluster.y, o.cluster.z, entry.c_str(), c.x, c.y, c.z));
  if (!c.x && machine.cluster_size() > 1)
    stop("misuse", "cluster-dims",
         text("The launch makes clusters of %u x %u x %u blocks, and %s has no __cluster_dims__: on a GPU each block would be "
              "alone in its cluster.",
              o.cluster.x, o.cluster.y, o.cluster.z, entry.c_str()));
}

void check_launch() {
  Options& o = machine.options;
  const Dim3 &b = o.block, &g = o.grid;
  if (b.x > 1024 || b.y > 1024 || b.z > 64)
    stop("misuse", "launch", text("A block of %u x %u x %u threads: it may have 1 to 1024, and 64 along z.", b.x, b.y, b.z));
  if (g.x > 0x7FFFFFFF || g.y > 65535 || g.z > 65535)
    stop("misuse", "launch", text("A grid of %u x %u x %u blocks: CUDA allows 2147483647 x 65535 x 65535.", g.x, g.y, g.z));
  const unsigned n = machine.threads_per_block();
  if (n == 0 || n > 1024) stop("misuse", "launch", text("A block of %u threads: it may have 1 to 1024.", n));
  if (!o.grid.x || !o.grid.y || !o.grid.z)
    stop("misuse", "launch", text("An empty grid: %u x %u x %u blocks.", o.grid.x, o.grid.y, o.grid.z));
  if (machine.cluster_size() == 0 || machine.cluster_size() > 8)
    stop("misuse", "launch",
         text("A cluster of %u blocks: it may have 1 to 8 without opting in to more.", machine.cluster_size()));
  if (o.grid.x % o.cluster.x || o.grid.y % o.cluster.y || o.grid.z % o.cluster.z)
    stop("misuse", "launch", "The grid is not a whole number of clusters in each dimension.");
  if (machine.bounds) check_bounds(*machine.bounds);
  if (o.shared_bytes > SHARED_BYTES)
    stop("misuse", "shared-memory-budget",
         text("%u bytes of dynamic shared memory; a block may have %u.", o.shared_bytes, SHARED_BYTES));
  const unsigned most = REGISTERS_PER_SM / ((n + 127) / 128 * 128) / 8 * 8;
  if (!o.registers) o.registers = most < 255 ? most : 255;
  if (o.registers > 255 || o.registers * ((n + 31) / 32 * 32) > REGISTERS_PER_SM)
    stop("misuse", "register-budget",
         text("%u threads of %u registers need %u; an SM has %u, and a thread at most 255.", n, o.registers, o.registers * n,
              REGISTERS_PER_SM));
}

}  // namespace
}  // namespace emu

int main(int count, char** words) {
  using namespace emu;
  if (count != 2) {
    fprintf(stderr, "usage: runner LAUNCH_FILE (the emulator's Python side writes it)\n");
    return 2;
  }
  // Options first: arrays want to know whether they are watched.
  read_launch(words[1]);
  start_clock(machine.options.timeout);
  load_kernel();
  check_launch();
  fit_arguments();
  run_launch();
  finish();
}
