#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <tuple>

#include "json.h"
#include "machine.h"
#include "mbarrier.h"
#include "memory.h"
#include "trace.h"
#include "wgmma.h"

namespace emu {
namespace {

constexpr size_t MAX_FINDINGS = 20;  // distinct ones; after that the launch is stopped
constexpr Place KNOWN_WHERE = 1ull << 63;

struct Found {
  const char* kind;
  std::string rule, message;
  Place a, b;
  unsigned count;
};
std::vector<Found> findings;
std::map<std::tuple<std::string, Place, Place>, size_t> index_of;
std::vector<std::string> notes;
std::deque<std::string> recent;
std::map<std::pair<std::string, int>, Place> place_index;
std::vector<std::pair<std::string, int>> places;
const char* result_path = "";
bool ending;  // a finding while the last one is being told would be lost anyway

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void place_to_json(std::string& out, Place p) {
  if (p & KNOWN_WHERE) {
    const auto& where = places[p & ~KNOWN_WHERE];
    out += "{\"file\": " + json_string(where.first) + text(", \"line\": %d}", where.second);
  } else {
    out += text("{\"pc\": %llu}", (unsigned long long)p);
  }
}

// "lane 0", "lanes 0-31", "lanes 0,4,8".
std::string lanes_text(uint32_t mask) {
  std::string s;
  int n = 0;
  for (int l = 0; l < 32; ++l) {
    if (!(mask >> l & 1)) continue;
    int last = l;
    while (last < 31 && (mask >> (last + 1) & 1)) ++last;
    s += text(last > l ? "%s%d-%d" : "%s%d", s.empty() ? "" : ",", l, last);
    n += last - l + 1;
    l = last;
  }
  return (n == 1 ? "lane " : "lanes ") + s;
}

std::string waits_for(const Thread* t) {
  Block* b = t->home;
  switch (t->wait) {
    case Wait::MBARRIER:
    case Wait::TRY: {
      const Barrier* bar = find_barrier(b, (unsigned)t->object);
      const BarrierState s = barrier_state(b, (unsigned)t->object);
      std::string state = text("%u phases completed", bar->phases);
      if (s.pending) state += text(", %u of %u arrivals missing", s.pending, s.expected);
      if (s.bytes > 0) state += text(", %d bytes expected that no copy brings", s.bytes);
      if (s.bytes < 0) state += text(", %d bytes landed that nobody expected", -s.bytes);
      state += ", last arrival: " + last_arrival(bar);
      if (bar->phases - t->phases_at_wait >= 2)
        state += text("; %u phases completed while it waited for one: it was overtaken and misreads the parity (ABA)",
                      bar->phases - t->phases_at_wait);
      return text("waits for %s, parity %u, at %s | ", bar->name.c_str(), (unsigned)t->value & 1, at(t->where).c_str()) + state;
    }
    case Wait::BARRIER: {
      const NamedBarrier& bar = b->barriers[t->object];
      return text("waits at barrier %d at %s | %u threads have arrived of %u", (int)t->object, at(t->where).c_str(),
                  bar.arrived, bar.expected ? bar.expected : b->live);
    }
    case Wait::COLLECTIVE: {
      uint32_t arrived = 0;
      for (const CollectiveState& c : b->warps[t->warp].collectives)
        if (c.mask == t->object) arrived = c.arrived;
      return text("waits in a warp operation at %s | mask 0x%08x, arrived 0x%08x", at(t->where).c_str(), (unsigned)t->object,
                  arrived);
    }
    case Wait::WGMMA: {
      const Warpgroup& g = *b->warpgroups[t->warp / 4];
      return text("waits for its wgmmas at %s | %u done of %llu, the next was issued by %u of 128 threads",
                  at(t->where).c_str(), g.done, (unsigned long long)t->value, g.queue.empty() ? 0 : g.queue.front().arrived);
    }
    case Wait::REGISTERS: {
      const Warpgroup& g = *b->warpgroups[t->warp / 4];
      return text(
          "waits for %llu registers a thread (reg_inc) at %s | the warpgroup holds %d a thread, %d registers are free in the "
          "block, %u of 128 threads have asked",
          (unsigned long long)t->value, at(t->where).c_str(), g.registers, b->free_registers, g.setting ? g.setting : 128);
    }
    case Wait::CLUSTER:
      return text("waits at the cluster barrier at %s | %u threads have arrived of %u", at(t->where).c_str(),
                  b->cluster->barrier.arrived, b->cluster->live);
    case Wait::STORES: return text("waits for its TMA stores at %s", at(t->where).c_str());
    case Wait::NONE:
    case Wait::YIELD: return *t->where.file ? text("runs or polls near %s", at(t->where).c_str()) : "runs";
  }
  return "";
}

// Who waits for what: neighbouring warps and lanes that wait for the same are one line.
std::string everybody() {
  struct Line {
    std::string what;
    uint32_t lanes;
    unsigned first, last;
  };
  std::string s;
  for (const Slot& slot : machine.slots) {
    if (!slot.block) continue;
    const Block* b = slot.block.get();
    std::vector<Line> lines;
    for (unsigned w = 0; w < b->warps.size(); ++w) {
      const size_t before = lines.size();
      for (unsigned i = w * 32; i < w * 32 + 32 && i < b->threads.size(); ++i) {
        const Thread& t = b->threads[i];
        if (t.done) continue;
        const std::string what = waits_for(&t);
        size_t k = before;
        while (k < lines.size() && lines[k].what != what) ++k;
        if (k == lines.size()) lines.push_back({what, 0, w, w});
        lines[k].lanes |= 1u << t.lane;
      }
      if (before && lines.size() == before + 1 && lines[before].what == lines[before - 1].what &&
          lines[before].lanes == lines[before - 1].lanes && lines[before - 1].last + 1 == w) {
        lines.pop_back();
        lines.back().last = w;
      }
    }
    for (const Line& l : lines) {
      const std::string warps = l.first == l.last ? text("warp %u", l.first) : text("warps %u-%u", l.first, l.last);
      s += "\n" + name_of(b) + " " + warps + " " + lanes_text(l.lanes) + " " + l.what;
    }
    if (s.size() > 6000) return s + "\n...";
  }
  return s;
}

std::string recent_events() {
  std::string s = recent.empty() ? "" : "\nlast events:";
  for (const std::string& e : recent) s += "\n  " + e;
  return s;
}

}  // namespace

std::string text(const char* format, ...) {
  char buffer[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

Place place_of(Where w) {
  static Where last{nullptr, 0};
  static Place last_place;
  if (w.file == last.file && w.line == last.line) return last_place;  // most calls repeat
  const auto key = std::make_pair(std::string(base_name(w.file)), w.line);
  auto it = place_index.find(key);
  if (it == place_index.end()) {
    it = place_index.emplace(key, KNOWN_WHERE | places.size()).first;
    places.push_back(key);
  }
  last = w;
  return last_place = it->second;
}

std::string at(Place p) {
  if (!(p & KNOWN_WHERE)) return text("<pc:%llu>", (unsigned long long)p);  // the launcher puts file and line
  const auto& where = places[p & ~KNOWN_WHERE];
  return text("%s:%d", where.first.c_str(), where.second);
}
std::string at(Where w) { return text("%s:%d", base_name(w.file), w.line); }

std::string name_of(const Block* b) {
  return b->index.z ? text("block (%u,%u,%u)", b->index.x, b->index.y, b->index.z)
                    : text("block (%u,%u)", b->index.x, b->index.y);
}
std::string name_of(const Thread* t) { return name_of(t->home) + text(" warp %u lane %u", t->warp, t->lane); }

std::string name_of_entity(uint32_t e) {
  const Block* b = machine.block_of_serial[e >> 16];
  const unsigned index = e & 0xFFFF;
  if (!b) {
    Block gone;
    gone.index = machine.index_of_serial[e >> 16];
    return name_of(&gone) + (index < machine.threads_per_block() ? text(" warp %u lane %u", index / 32, index % 32) : "") +
           ", which has exited,";
  }
  if (index < b->threads.size()) return name_of(&b->threads[index]);
  const unsigned group = index - (unsigned)b->threads.size();
  if (group < b->warpgroups.size()) return text("the wgmma of %s warpgroup %u", name_of(b).c_str(), group);
  for (auto& entry : b->async_of) {
    if (entry.second != (int)(group - b->warpgroups.size())) continue;
    if (entry.first >> 32 == 4) return "the cp.async copy of " + name_of(&b->threads[entry.first & 0xFFFFFFFF]);
    if (entry.first >> 32) return "the TMA store of " + name_of(&b->threads[entry.first & 0xFFFFFFFF]);
    auto bar = b->mbarriers.find((unsigned)entry.first);
    return text("the TMA load on %s of %s", bar == b->mbarriers.end() ? "a barrier" : bar->second.name.c_str(),
                name_of(b).c_str());
  }
  return "a TMA copy of " + name_of(b);
}

bool known_finding(const char* rule, Place a, Place b) {
  auto it = index_of.find(std::make_tuple(std::string(rule), a, b));
  if (it == index_of.end()) return false;
  ++findings[it->second].count;
  return true;
}

void found(const char* kind, const char* rule, const std::string& message, Place a, Place b) {
  if (!machine.options.checks && !strcmp(kind, "race")) return;
  index_of[std::make_tuple(std::string(rule), a, b)] = findings.size();
  findings.push_back({kind, rule, message, a, b, 1});
  if (findings.size() < MAX_FINDINGS || ending) return;
  note("The launch was stopped after this many different findings.");
  finish();
}

void note(const std::string& remark) { notes.push_back(remark); }

void stop(const char* kind, const char* rule, const std::string& message, Where where) {
  ending = true;
  const Place p = *where.file ? place_of(where) : 0;
  found(kind, rule, p ? message + " (" + at(p) + ")" : message, p);
  finish();
}

void stop_at_code(const char* kind, const char* rule, const std::string& message, const void* pc) {
  ending = true;
  const Place p = place_of_code(pc);
  found(kind, rule, p ? message + " (" + at(p) + ")" : message, p);
  finish();
}

void stop_deadlock(const char* why) {
  ending = true;
  Place p = 0;
  for (const Slot& s : machine.slots)  // the place of the first waiting thread stands for all
    if (s.block)
      for (const Thread& t : s.block->threads)
        if (!t.done && !p && *t.where.file) p = place_of(t.where);
  std::string message = why;
  if (const size_t n = blocks_not_started())
    message += text(
        "\n%zu blocks have not started: %zu are resident at a time (sms), and those never end. Blocks that wait for each other "
        "must "
        "all be resident.",
        n, machine.slots.size());
  found("deadlock", "deadlock", message + everybody() + recent_events(), p);
  finish();
}

void stop_timeout() {
  ending = true;
  found("timeout", "timeout",
        text("The launch did not end within %g s.", machine.options.timeout) + everybody() + recent_events(), 0);
  finish();
}

void remember(const std::string& event) {
  recent.push_back(event);
  if (recent.size() > 12) recent.pop_front();
}

void result_goes_to(const char* path) { result_path = path; }

void finish() {
  fflush(stdout);
  std::string out = "{\"findings\": [";
  for (size_t i = 0; i < findings.size(); ++i) {
    const Found& f = findings[i];
    out += (i ? ",\n" : "\n") + ("{\"kind\": " + json_string(f.kind)) + ", \"rule\": " + json_string(f.rule) +
           ", \"message\": " + json_string(f.message) + text(", \"count\": %u, \"places\": [", f.count);
    if (f.a) place_to_json(out, f.a);
    if (f.b) out += ", ", place_to_json(out, f.b);
    out += "]}";
  }
  out += "],\n\"notes\": [";
  for (size_t i = 0; i < notes.size(); ++i) out += (i ? ", " : "") + json_string(notes[i]);
  out +=
      text("],\n\"steps\": %llu, \"switches\": %llu", (unsigned long long)machine.steps, (unsigned long long)machine.switches);
  if (tracing()) out += ",\n\"trace\": ", trace_to_json(out);
  out += "}\n";
  if (FILE* f = fopen(result_path, "w")) {
    fwrite(out.data(), 1, out.size(), f);
    fclose(f);
  }
  _exit(0);
}

}  // namespace emu
