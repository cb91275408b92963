// report.h - what is found wrong, told once each with its place, and the launch's result as JSON.
#pragma once
#include <stdint.h>

#include <string>
#include <vector>

#include "api.h"

namespace emu {

struct Thread;
struct Block;

std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));

// A place in the source: a file and line, or an address in the kernel's code that the launcher translates.
// Packed into one word for shadow memory: the highest bit marks an index into the table of known Wheres.
typedef uint64_t Place;
Place place_of(Where w);
inline Place place_of_code(const void* pc) { return (Place)(uintptr_t)pc; }
std::string at(Place p);
std::string at(Where w);

std::string name_of(const Block* b);   // "block (0,0)"
std::string name_of(const Thread* t);  // "block (0,0) warp 1 lane 3"
std::string name_of_entity(uint32_t entity);

// A finding that lets the launch go on (races). Told once for each rule and pair of places; then only counted.
bool known_finding(const char* rule, Place a, Place b);  // counts it if known
void found(const char* kind, const char* rule, const std::string& message, Place a, Place b = 0);
void note(const std::string& remark);

// A finding that ends the launch: writes the result and exits the process.
[[noreturn]] void stop(const char* kind, const char* rule, const std::string& message, Where where = Where{"", 0});
[[noreturn]] void stop_at_code(const char* kind, const char* rule, const std::string& message, const void* pc);
[[noreturn]] void stop_deadlock(const char* why);
[[noreturn]] void stop_timeout();
[[noreturn]] void finish();  // the launch is over

void remember(const std::string& event);  // the last few are part of a deadlock's report
bool timed_out();
void result_goes_to(const char* path);

}  // namespace emu
