#include "trace.h"

#include <vector>

#include "json.h"
#include "machine.h"
#include "mbarrier.h"

namespace emu {
namespace {

struct Recorded {
  double begin, end;
  const char* kind;
  std::string who, what;
  Place place;
  std::string data;
};
std::vector<Recorded> events;
constexpr size_t MAX_EVENTS = 200000;  // a picture of more shows nothing

std::string object_of(const Thread* t, const char** kind) {
  *kind = "wait";
  switch (t->wait) {
    case Wait::MBARRIER:
    case Wait::TRY: return find_barrier(t->home, (unsigned)t->object)->name;
    case Wait::BARRIER: return text("barrier %d", (int)t->object);
    case Wait::WGMMA: return "wgmma";
    case Wait::REGISTERS: return "registers";
    case Wait::CLUSTER: return "cluster barrier";
    case Wait::STORES: return "TMA stores";
    default: return "";
  }
}

}  // namespace

bool tracing() { return machine.options.trace; }

void trace(double begin, double end, const char* kind, const std::string& who, const std::string& what, Where where,
           const std::string& data) {
  if (events.size() == MAX_EVENTS) note("The trace was cut: it has as many events as are kept.");
  if (events.size() > MAX_EVENTS) return;
  events.push_back({begin, end, kind, who, what, *where.file ? place_of(where) : 0, data});
}

void trace_wait(const Thread* t) {
  const char* kind;
  const std::string what = object_of(t, &kind);
  if (what.empty()) return;
  if (t->lane) {  // lane 0 speaks for the lanes that wait with it
    const Thread* first = t - t->lane;
    if (first->wait_began == t->wait_began || (first->wait == t->wait && first->object == t->object)) return;
  }
  const double end = machine.options.pick == Pick::TIMED ? t->time : event_time();
  trace(t->wait_began, end, kind, name_of(t->home) + text(" warp %u", t->warp), what, t->where,
        text("\"parity\": %u", (unsigned)(t->value & 1)));
}

void trace_to_json(std::string& out) {
  out += "[";
  for (size_t i = 0; i < events.size(); ++i) {
    const Recorded& e = events[i];
    out += text("%s{\"time\": %.1f, \"end\": %.1f, \"kind\": \"%s\"", i ? ",\n" : "\n", e.begin, e.end, e.kind);
    out += ", \"who\": " + json_string(e.who) + ", \"what\": " + json_string(e.what) +
           ", \"at\": " + json_string(e.place ? at(e.place) : "");
    out += ", \"data\": {" + e.data + "}}";
  }
  out += "]";
}

}  // namespace emu
