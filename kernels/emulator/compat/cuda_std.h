// cuda_std.h - the little of C++'s library that device code uses (the emulator links none): also as cuda::std.
#pragma once
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

namespace std {
template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  typedef T value_type;
  constexpr operator T() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool b, class A, class B> using conditional_t = typename conditional<b, A, B>::type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T&> { typedef T type; };
template <class T> struct remove_reference<T&&> { typedef T type; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_cv { typedef T type; };
template <class T> struct remove_cv<const T> { typedef T type; };
template <class T> struct remove_cv<volatile T> { typedef T type; };
template <class T> struct remove_cv<const volatile T> { typedef T type; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using decay_t = remove_cv_t<remove_reference_t<T>>;
template <class T> struct is_integral : false_type {};
template <class T> struct is_floating_point : false_type {};
#define EMU_TRAIT(trait, T) template <> struct trait<T> : true_type {};
EMU_TRAIT(is_integral, bool) EMU_TRAIT(is_integral, char) EMU_TRAIT(is_integral, signed char) EMU_TRAIT(is_integral, unsigned char)
EMU_TRAIT(is_integral, short) EMU_TRAIT(is_integral, unsigned short) EMU_TRAIT(is_integral, int) EMU_TRAIT(is_integral, unsigned)
EMU_TRAIT(is_integral, long) EMU_TRAIT(is_integral, unsigned long) EMU_TRAIT(is_integral, long long) EMU_TRAIT(is_integral, unsigned long long)
EMU_TRAIT(is_floating_point, float) EMU_TRAIT(is_floating_point, double)
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T> inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T> struct is_arithmetic : bool_constant<is_arithmetic_v<T>> {};
template <class T> inline constexpr bool is_signed_v = is_arithmetic_v<T> && (T)-1 < (T)0;
template <class T> inline constexpr bool is_unsigned_v = is_integral_v<T> && !is_signed_v<T>;
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T*> : true_type {};
template <class A, class B, bool = is_arithmetic_v<A>&& is_arithmetic_v<B>> struct common_arithmetic {};
template <class A> struct common_arithmetic<A, A, false> { typedef A type; };
template <class A> struct common_arithmetic<A, A, true> { typedef A type; };
template <class A, class B> struct common_arithmetic<A, B, true> { typedef decltype(true ? A() : B()) type; };
template <class A, class B> using common_arithmetic_t = typename common_arithmetic<A, B>::type;
template <class T> T&& declval() noexcept;
template <class T> constexpr remove_reference_t<T>&& move(T&& v) noexcept { return static_cast<remove_reference_t<T>&&>(v); }
template <class T> constexpr T&& forward(remove_reference_t<T>& v) noexcept { return static_cast<T&&>(v); }
template <class T> inline void swap(T& a, T& b) {
  T c = move(a);
  a = move(b);
  b = move(c);
}
template <class T, class U = T> inline T exchange(T& a, U&& b) {
  T old = move(a);
  a = forward<U>(b);
  return old;
}
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& clamp(const T& v, const T& low, const T& high) { return v < low ? low : high < v ? high : v; }
template <class A, class B> struct pair {
  A first;
  B second;
};
template <class A, class B> constexpr pair<A, B> make_pair(A a, B b) { return {a, b}; }
template <class T, size_t n> struct array {
  T elements[n];
  constexpr T& operator[](size_t i) { return elements[i]; }
  constexpr const T& operator[](size_t i) const { return elements[i]; }
  constexpr size_t size() const { return n; }
  constexpr T* data() { return elements; }
};
template <class T> struct plus { constexpr T operator()(const T& a, const T& b) const { return a + b; } };
template <class T> struct less { constexpr bool operator()(const T& a, const T& b) const { return a < b; } };

template <class T> struct numeric_limits {
  static constexpr bool is_signed = is_signed_v<T>, is_integer = is_integral_v<T>;
  static constexpr T max() { return is_signed ? (T)(((((T)1 << (8 * sizeof(T) - 2)) - 1) << 1) + 1) : (T)-1; }
  static constexpr T min() { return is_signed ? (T)(-max() - 1) : (T)0; }
  static constexpr T lowest() { return min(); }
};
#define EMU_LIMITS(T, P, suffix)                                                  \
  template <> struct numeric_limits<T> {                                          \
    static constexpr bool is_signed = true, is_integer = false;                   \
    static constexpr T max() { return P##_MAX; }                                  \
    static constexpr T min() { return P##_MIN; }                                  \
    static constexpr T lowest() { return -P##_MAX; }                              \
    static constexpr T epsilon() { return P##_EPSILON; }                          \
    static constexpr T infinity() { return __builtin_inf##suffix(); }             \
    static constexpr T quiet_NaN() { return __builtin_nan##suffix(""); }          \
  };
EMU_LIMITS(float, FLT, f)
EMU_LIMITS(double, DBL, )
}  // namespace std
namespace cuda {
namespace std {
using namespace ::std;
}
namespace device {
namespace experimental {}
}  // namespace device
namespace ptx {}
}  // namespace cuda
namespace cooperative_groups {}
namespace nvcuda {
namespace wmma {}
}  // namespace nvcuda
