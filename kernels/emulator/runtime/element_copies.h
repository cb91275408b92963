// element_copies.h - cp.async: copies of 4, 8 or 16 bytes that one thread issues and waits for by groups. Unlike TMA they are no
// work of the async proxy.
#pragma once
#include "machine.h"

namespace emu {

size_t element_copies_in_flight();
void land_element_copy();                               // one, of some thread
void land_element_copies(Thread* t, unsigned numbers);  // the thread's, up to that number
void land_all_element_copies();

}  // namespace emu
