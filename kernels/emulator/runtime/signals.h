// signals.h - crashes and endless loops of the kernel's code become findings.
#pragma once

namespace emu {

void start_clock(double seconds);  // the time limit, and the handlers

}  // namespace emu
