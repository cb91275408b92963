#include "convergence.h"

namespace emu {
namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15ull;
  return a ^ a >> 29;
}

uint32_t present_lanes(const Thread* t) {
  const size_t present = t->home->threads.size() - t->warp * 32;
  return present < 32 ? (1u << present) - 1 : ~0u;
}

void tell(const Thread* t, const char* what, Where where, const AlignedOperation& op) {
  if (known_finding("divergent-warp", place_of(where), op.place)) return;
  const std::string who = name_of(t), here = at(where);
  found("race", "divergent-warp",
        op.place != place_of(where) || op.what != what ? text("%s comes to %s at %s, while other lanes of its warp came to %s "
                                                              "at %s. It is executed by all 32 lanes together.",
                                                              who.c_str(), what, here.c_str(), op.what, at(op.place).c_str())
                                                       : text("%s comes to %s at %s, but the lanes of its warp have not come "
                                                              "together: one of them has waited in a branch that the "
                                                              "others did not take, and they need not wait for it. It is "
                                                              "executed by all 32 lanes together: call __syncwarp() after "
                                                              "the branch.",
                                                              who.c_str(), what, here.c_str()),
        place_of(where), op.place);
}

}  // namespace

void waits_alone(Thread* t, Place place) {
  if (!machine.options.checks) return;
  t->path = mix(t->path, place + 1);
  t->polled = 0;
}

void polls(Thread* t, Place place) {
  if (!machine.options.checks || t->polled == place) return;
  t->path = mix(t->path, place + 1);
  t->polled = place;
}

void together(Thread* lanes, uint32_t mask) {
  if (!machine.options.checks) return;
  const uint32_t all = present_lanes(lanes);
  uint64_t path = 0;
  if ((mask & all) != all) {  // a part of the warp: alike among themselves
    const uint64_t first = lanes[__builtin_ctz(mask)].path;
    bool alike = true;
    for (uint32_t m = mask & all; m; m &= m - 1) {
      alike &= lanes[__builtin_ctz(m)].path == first;
      path = mix(path, lanes[__builtin_ctz(m)].path);
    }
    if (alike) path = first;
  }
  for (uint32_t m = mask & all; m; m &= m - 1) {
    lanes[__builtin_ctz(m)].path = path;
    lanes[__builtin_ctz(m)].polled = 0;
  }
}

void aligned(Thread* t, const char* what, Where where) {
  if (!machine.options.checks) return;
  Warp& w = t->home->warps[t->warp];
  const unsigned i = t->aligned++ - w.aligned_done;
  if (i == w.aligned.size()) {
    w.aligned.push_back({what, place_of(where), t->path, 0});
  } else {
    const AlignedOperation& op = w.aligned[i];
    if (op.path != t->path || op.place != place_of(where) || op.what != what) tell(t, what, where, op);
  }
  w.aligned[i].lanes |= 1u << t->lane;
  while (!w.aligned.empty() && w.aligned.front().lanes == present_lanes(t)) w.aligned.pop_front(), ++w.aligned_done;
}

void check_aligned_at_exit(Thread* t) {
  if (!machine.options.checks) return;
  const Warp& w = t->home->warps[t->warp];
  if (t->aligned - w.aligned_done >= w.aligned.size()) return;
  const AlignedOperation& op = w.aligned[t->aligned - w.aligned_done];
  if (known_finding("divergent-warp", op.place, 0)) return;
  found("race", "divergent-warp",
        text("%s exits without %s at %s, which other lanes of its warp have executed. It is executed by all 32 lanes together.",
             name_of(t).c_str(), op.what, at(op.place).c_str()),
        op.place);
}

}  // namespace emu
