// The functions that generated C++ kernels call. A kernel's text holds those that it needs: a block
// ends at a blank line, and is taken when a name that it defines is used.
//
// Everything is branch-free (selects, no calls), so that gcc and clang turn a loop over it into
// vector instructions. No header is needed. The compiler does not contract a*b + c; where one
// rounding is wanted, fma says so. Polynomials are minimax fits. Accuracy in units in the last
// place, whatever the argument: exp, log 1; exp2, expm1, log1p, sin, cos 2; tanh, sigmoid, erf 3.

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

template <class T> struct Real;  // what the functions below need to know about float and double
template <> struct Real<float> {
    typedef uint32_t Word;
    static constexpr int mantissa = 23, bias = 127;
    static constexpr float inf = __builtin_inff(), nan = __builtin_nanf(""), tiny = 0x1p-126f;
    static constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860682e-6f, log2e = 1.44269504f;
    static constexpr float exp_most = 104.0f;   // from here on e^x is infinite and e^-x is 0
    static constexpr float expm1_most = 89.0f;  // e^x - 1 is infinite
    static constexpr float tanh_one = 9.1f;     // tanh x rounds to 1
    static constexpr float round = 0x1.8p23f;   // x + round: x as an integer in the low bits
};
template <> struct Real<double> {
    typedef uint64_t Word;
    static constexpr int mantissa = 52, bias = 1023;
    static constexpr double inf = __builtin_inf(), nan = __builtin_nan(""), tiny = 0x1p-1022;
    static constexpr double ln2_high = 0.693147180559663, ln2_low = 2.8235290563031577e-13;
    static constexpr double log2e = 1.4426950408889634, exp_most = 746.0, expm1_most = 710.0;
    static constexpr double tanh_one = 19.1, round = 0x1.8p52;
};

template <class To, class From> static inline To bitcast(From x) {
    To y;
    __builtin_memcpy(&y, &x, sizeof y);
    return y;
}
template <class T> static inline typename Real<T>::Word bits(T x) {
    return bitcast<typename Real<T>::Word>(x);
}

static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float copysign(float a, float b) { return __builtin_copysignf(a, b); }
static inline double copysign(double a, double b) { return __builtin_copysign(a, b); }

// horner(x, a, b, c) = a + b x + c x^2
template <class T> static inline T horner(T, T a) { return a; }
template <class T, class... More> static inline T horner(T x, T a, More... more) {
    return fma(horner(x, more...), x, a);
}

// (e^r - 1 - r) / r^2 for -0.29 <= r <= 0.41
static inline float exp_tail(float r) {
    return horner(r, 0.5000003f, 0.16666594f, 0.041655917f, 0.008357308f, 0.0014801114f);
}
static inline double exp_tail(double r) {
    return horner(r, 0.49999999999999944, 0.16666666666667806, 0.04166666666673316,
                  0.008333333332356476, 0.001388888886927524, 0.00019841272715388926,
                  2.48015970929393e-05, 2.755376726087939e-06, 2.7580863021159925e-07,
                  2.664353633499516e-08);
}

// x = k ln(2) + r, -0.29 <= r <= 0.41: unlike |r| <= 0.35, with this r nothing that is rounded
// exceeds 0.25 below, or 0.5 above. Adding `round` leaves k in the low bits of `shifted`.
template <class T> struct Reduced {
    T shifted, r, p;  // p = e^r - 1
};
template <class T> static inline Reduced<T> exp_reduce(T x) {
    T shifted = fma(x, Real<T>::log2e, T(-0.084)) + Real<T>::round, k = shifted - Real<T>::round;
    T r = fma(-k, Real<T>::ln2_low, fma(-k, Real<T>::ln2_high, x));
    return {shifted, r, fma(r * r, exp_tail(r), r)};
}

// y * 2^k in two steps, as 2^k alone may be subnormal or infinite
template <class T> static inline T scale(T y, T shifted) {
    typedef typename Real<T>::Word Word;
    Word biased = bits(shifted) - bits(Real<T>::round) + 2 * Real<T>::bias, half = biased >> 1;
    return y * bitcast<T>(half << Real<T>::mantissa)
             * bitcast<T>((biased - half) << Real<T>::mantissa);
}

template <class T> static inline T exp(T x) {
    // beyond, e^x is 0 or infinite; a NaN stays. One comparison, as two make compilers branch.
    T a = copysign(x, T(1));
    Reduced<T> e = exp_reduce(copysign(Real<T>::exp_most < a ? Real<T>::exp_most : a, x));
    return scale(e.p + T(1), e.shifted);
}

template <class T> static inline T exp2(T x) {
    T a = copysign(x, T(1)), most = T(Real<T>::bias + Real<T>::mantissa + 3);
    x = copysign(most < a ? most : a, x);
    T shifted = (x - T(0.084)) + Real<T>::round, r = x - (shifted - Real<T>::round);
    r = fma(r, Real<T>::ln2_high, r * Real<T>::ln2_low);
    return scale(fma(r * r, exp_tail(r), r) + T(1), shifted);
}

// 2^k p + (2^k - 1): relative accuracy also near 0, where k is 0. Halved, as 2^k may be infinite.
template <class T> static inline T expm1_unsigned(T x) {
    T a = copysign(x, T(1)), most = x < T(0) ? T(50) : Real<T>::expm1_most;
    x = copysign(most < a ? most : a, x);
    Reduced<T> e = exp_reduce(x);
    typename Real<T>::Word k = bits(e.shifted) - bits(Real<T>::round);
    T half = bitcast<T>((k + Real<T>::bias - 1) << Real<T>::mantissa);
    return T(2) * fma(half, e.p, half - T(0.5));
}

template <class T> static inline T expm1(T x) { return copysign(expm1_unsigned(x), x); }

template <class T> static inline T sigmoid(T x) { return T(1) / (T(1) + exp(-x)); }

// tanh |x| = (e^2|x| - 1) / (e^2|x| + 1)
template <class T> static inline T tanh(T x) {
    T a = copysign(x, T(1));
    T t = expm1_unsigned(T(2) * (Real<T>::tanh_one < a ? Real<T>::tanh_one : a));
    return copysign(t / (t + T(2)), x);
}

// (log(1 + f) - 2 s) / s^3 with s = f / (2 + f), z = s^2, 1 + f between sqrt(1/2) and sqrt(2)
static inline float log_tail(float z) {
    return horner(z, 0.66666663f, 0.40000346f, 0.285366f, 0.23596367f);
}
static inline double log_tail(double z) {
    return horner(z, 0.666666666666674, 0.3999999999937787, 0.2857142875132786,
                  0.22222197584697506, 0.18183619131058903, 0.15312566087792476,
                  0.14811579491028115);
}

template <class T> static inline T log(T x) {
    typedef typename Real<T>::Word Word;
    bool subnormal = x < Real<T>::tiny;
    Word b = bits(subnormal ? x * T(1ull << Real<T>::mantissa) : x);
    Word biased = (b + bits(T(1)) - bits(T(0.70710678118654752))) >> Real<T>::mantissa;
    T f = bitcast<T>(b - ((biased - Real<T>::bias) << Real<T>::mantissa)) - T(1);
    T power = T(1ull << Real<T>::mantissa);  // an integer added to its bits is added to its value
    T k = bitcast<T>(bits(power) + biased) - (power + T(Real<T>::bias));
    k = subnormal ? k - T(Real<T>::mantissa) : k;
    T s = f / (T(2) + f), z = s * s, half = T(0.5) * f * f;
    T tail = fma(s, fma(z, log_tail(z), half), k * Real<T>::ln2_low);
    T y = fma(k, Real<T>::ln2_high, f - (half - tail));
    y = x < Real<T>::inf ? y : x;
    return x > T(0) ? y : x == T(0) ? -Real<T>::inf : Real<T>::nan;
}

// u = 1 + x is rounded; what that lost, over u, is the missing part of the logarithm
template <class T> static inline T log1p(T x) {
    T u = T(1) + x, y = log(u) + (x - (u - T(1))) / u;
    return u == T(1) || x == Real<T>::inf ? x : x == T(-1) ? -Real<T>::inf : y;
}

static inline float log2(float x) { return float(log(double(x)) * 1.4426950408889634); }
static inline double log2(double x) { return __builtin_log2(x); }
static inline float log10(float x) { return float(log(double(x)) * 0.4342944819032518); }
static inline double log10(double x) { return __builtin_log10(x); }

// erf |x| = 1 - 2^q. As -(2^k p + (2^k - 1)) that has relative accuracy near 0, as expm1 has.
static inline float erf(float x) {
    float a = copysign(x, 1.0f), b = 3.93f < a ? 3.93f : a;  // 3.93: from here on it rounds to 1
    float q = b * horner(b, -1.62790704f, -0.918447614f, -0.148277059f, 0.0276320297f,
                         0.000231402286f, -0.00240501179f, 0.000912990363f, -0.000169720399f,
                         1.3353959e-05f);
    float shifted = (q - 0.084f) + Real<float>::round;
    float r = (q - (shifted - Real<float>::round)) * 0.693147181f;
    float power = bitcast<float>((bits(shifted) + 127) << 23);
    return copysign(fma(-power, fma(r * r, exp_tail(r), r), 1.0f - power), x);
}
static inline double erf(double x) { return __builtin_erf(x); }

// x * 2/pi = n + r for every float: r in double, times pi/2, and n modulo 4. An argument of 2^50
// or more is an integer times 2^27 (2^54, 2^81), and 2/pi times that power counts modulo 4 only.
static inline float sine(float x, uint32_t quarters) {  // of x + quarters * pi/2
    double high = 0.6366197723675814, low = -3.935735335036497e-17, a = x, unit = 1.0;
    double size = copysign(a, 1.0);
    unit = size < 0x1p50 ? unit : 0x1p-27;
    high = size < 0x1p50 ? high : -0.5529460512772132;
    low = size < 0x1p50 ? low : 3.808591801500832e-17;
    unit = size < 0x1p77 ? unit : 0x1p-54;
    high = size < 0x1p77 ? high : 1.2910009524680295;
    low = size < 0x1p77 ? low : -3.862804515881076e-17;
    unit = size < 0x1p104 ? unit : 0x1p-81;
    high = size < 0x1p104 ? high : -1.3139050952781812;
    low = size < 0x1p104 ? low : 9.395526559852902e-17;
    a *= unit;
    double shifted = fma(a, high, 0x1.8p52), n = shifted - 0x1.8p52;
    double r = fma(a, low, fma(a, high, -n));
    float turned = float(r * 1.5707963267948966), z = turned * turned;
    uint32_t quadrant = uint32_t(bits(shifted)) + quarters;
    float tail = horner(z, -0.16666667f, 0.008333329f, -0.00019839295f, 2.717939e-06f);
    float s = fma(turned * z, tail, turned);
    float c = horner(z, 1.0f, -0.5f, 0.041666646f, -0.0013887337f, 2.4434838e-05f);
    float y = quadrant & 1 ? c : s;
    return bitcast<float>(bits(y) ^ (quadrant & 2) << 30);
}

static inline float sin(float x) {
    float y = sine(x, 0);
    return x == 0.0f ? x : y;  // keeps -0.0
}
static inline double sin(double x) { return __builtin_sin(x); }

static inline float cos(float x) { return sine(x, 1); }
static inline double cos(double x) { return __builtin_cos(x); }

// What does not fit is the lowest number, as processors of this family have it; the language leaves
// it open, and a compiler that knows the value would choose its own. Zero is said apart: gcc takes
// F(T(x)) for trunc(x), where it is -0.
template <class T, class F> static inline T truncated(F x) {
    T whole = T(x);
#ifdef __x86_64__
    constexpr F limit = F(1ull << (8 * sizeof(T) - 1));
    whole = x >= -limit && x < limit ? whole : T(1ull << (8 * sizeof(T) - 1));
#endif
    return __builtin_fabs(x) < 1 ? T(0) : whole;
}

// bfloat16 is the upper half of a float; rounded half to even, a NaN stays one
static inline float from_bfloat16(uint16_t h) { return bitcast<float>(uint32_t(h) << 16); }
static inline uint16_t to_bfloat16(float x) {
    uint32_t b = bits(x), rounded = (b + 0x7fff + (b >> 16 & 1)) >> 16;
    return uint16_t(x != x ? 0x7fc0 : rounded);
}

// float16: the product moves the exponent, and makes a subnormal half a normal float
static inline float from_float16(uint16_t h) {
    uint32_t b = uint32_t(h & 0x7fff) << 13;
    uint32_t y = bits(bitcast<float>(b) * 0x1p112f);
    y = b >= 0x0f800000 ? b | 0x7f800000 : y;  // infinity and NaN
    return bitcast<float>(y | uint32_t(h & 0x8000) << 16);
}
static inline uint16_t to_float16(float x) {
    uint32_t b = bits(x) & 0x7fffffff;
    uint32_t normal = (b - 0x38000000 + 0xfff + (b >> 13 & 1)) >> 13;
    // 0.5 has the exponent at which a float's last bit is that of a subnormal half
    uint32_t subnormal = bits(bitcast<float>(b) + 0.5f) - 0x3f000000;
    uint32_t y = b < 0x38800000 ? subnormal : normal;
    y = b >= 0x477ff000 ? 0x7c00 : y;  // 65520 and above round to infinity
    y = b > 0x7f800000 ? 0x7e00 : y;
    return uint16_t(y | (bits(x) >> 16 & 0x8000));
}

// NaN if either is; of two zeros the first, as eager's clamps have it
template <class T> static inline T maximum(T a, T b) {
    T c = b > a ? b : a;
    return b == b ? c : b;
}
template <class T> static inline T minimum(T a, T b) {
    T c = b < a ? b : a;
    return b == b ? c : b;
}

// N partial results combined in pairs, halving their number each time
template <int N, class T, class F> static inline T folded(T* lanes, F both) {
    if constexpr (N == 1) {
        return lanes[0];
    } else {
#pragma omp simd
        for (int i = 0; i < N / 2; i++) lanes[i] = both(lanes[i], lanes[i + N / 2]);
        return folded<N / 2>(lanes, both);
    }
}

// Value v at position p takes the place of the best so far, if it comes before it. A NaN wins, then
// the first position.
template <bool most, class T, class V>
static inline void take(T& best, int64_t& at, V v, int64_t p) {
    bool equal = (v == best) | ((v != v) & (best != best)), beyond = most ? v > best : v < best;
    bool first = beyond | ((v != v) & (best == best)) | (equal & (p < at));
    best = first ? v : best;
    at = first ? p : at;
}

template <class T> static inline T sign(T x) { return T((x > T(0)) - (x < T(0))); }

// in double what is exact for floats is exact
template <class T> static inline constexpr bool is_real() { return T(0.5) != T(0); }
template <class T> static inline T fmod(T a, T b) {
    if constexpr (is_real<T>()) return T(__builtin_fmod(a, b));
    else return T(-1) < T(0) && b == T(-1) ? T(0) : T(a % b);  // the lowest number % -1 traps
}

// the sign of the divisor, as in Python
template <class T> static inline T remainder(T a, T b) {
    T m = fmod(a, b);
    return m != T(0) && (m < T(0)) != (b < T(0)) ? T(m + b) : m;
}

// the compiler takes an exponent of 0.5 for a square root, which differs at -inf and at -0
template <class T> static inline T pow(T a, T b) {
    if (b == T(0.5)) return a == -Real<T>::inf ? Real<T>::inf : T(__builtin_sqrt(a + T(0)));
    return sizeof(T) == 4 ? T(__builtin_powf(a, b)) : T(__builtin_pow(a, b));
}

template <class T> static inline T truncdiv(T a, T b) {
    if constexpr (is_real<T>()) return T(__builtin_trunc(a / b));
    else return T(-1) < T(0) && b == T(-1) ? T(-a) : T(a / b);
}

template <class T> static inline T floordiv(T a, T b) {
    if constexpr (is_real<T>()) {
        T m = fmod(a, b), q = (a - m) / b;
        q = m != T(0) && (m < T(0)) != (b < T(0)) ? q - T(1) : q;
        T whole = T(__builtin_floor(q));
        whole = q - whole > T(0.5) ? whole + T(1) : whole;
        return b == T(0) ? a / b : q == T(0) ? copysign(T(0), a / b) : whole;
    } else {
        T q = truncdiv(a, b);
        return T(q - (T(a - q * b) != T(0) && (a < T(0)) != (b < T(0))));
    }
}

// A count outside 0 ... width-1 shifts everything out.
template <class T> static inline T left_shift(T a, T n) {
    bool out = n < T(0) || n >= T(8 * sizeof(T));
    return out ? T(0) : T(a << (out ? T(0) : n));
}
template <class T> static inline T right_shift(T a, T n) {
    bool out = n < T(0) || n >= T(8 * sizeof(T));
    return T(a >> (out ? T(8 * sizeof(T) - 1) : n)) & (out && a > T(0) ? T(0) : T(-1));
}

// Philox4x32-10 of counter (offset, 0): two of the four words
struct Words {
    uint32_t first, second;
};
template <int rounds>
static inline Words philox_rounds(uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3, uint32_t k0,
                                  uint32_t k1) {
    if constexpr (rounds == 0) {
        return {c0, c1};
    } else {  // a loop within would keep the loop around it from becoming vectors
        uint64_t p0 = uint64_t(c0) * 0xD2511F53u, p1 = uint64_t(c2) * 0xCD9E8D57u;
        return philox_rounds<rounds - 1>(uint32_t(p1 >> 32) ^ c1 ^ k0, uint32_t(p1),
                                         uint32_t(p0 >> 32) ^ c3 ^ k1, uint32_t(p0),
                                         k0 + 0x9E3779B9, k1 + 0xBB67AE85);
    }
}
static inline Words philox(int64_t seed, int64_t offset) {
    return philox_rounds<10>(uint32_t(offset), uint32_t(uint64_t(offset) >> 32), 0, 0,
                             uint32_t(seed), uint32_t(uint64_t(seed) >> 32));
}

static inline float unit_interval(uint32_t word) { return float(int32_t(word >> 8)) * 0x1p-24f; }

static inline float random_rand(int64_t seed, int64_t offset) {
    return unit_interval(philox(seed, offset).first);
}

// Box-Muller; in double, so that the float is the same whatever logarithm and cosine are used
static inline float random_randn(int64_t seed, int64_t offset) {
    Words w = philox(seed, offset);
    double radius = __builtin_sqrt(-2.0 * log(1.0 - double(unit_interval(w.first))));
    return float(radius * cos(6.283185307179586 * double(unit_interval(w.second))));
}

static inline int64_t random_randint(int64_t seed, int64_t offset) {
    return int64_t(philox(seed, offset).first);
}
