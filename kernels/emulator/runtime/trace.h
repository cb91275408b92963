// trace.h - events for timelines: who did what, from when to when.
#pragma once
#include <string>

#include "report.h"

namespace emu {

// data: the members of a JSON object, without braces.
void trace(double begin, double end, const char* kind, const std::string& who, const std::string& what, Where where,
           const std::string& data = "");
void trace_wait(const Thread* t);  // a thread's wait is over: one event a warp
void trace_to_json(std::string& out);
bool tracing();

}  // namespace emu
