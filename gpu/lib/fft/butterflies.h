/* Transforms of 2 to 32 points without a prime factor above 7, in registers, with exp(-2 pi i jk /
 * n), of float2 or double2. */
#pragma once

template <typename C> __device__ inline C fft_add(C a, C b)
{
  return C{ a.x + b.x, a.y + b.y };
}
template <typename C> __device__ inline C fft_sub(C a, C b)
{
  return C{ a.x - b.x, a.y - b.y };
}
template <typename C> __device__ inline C fft_mul(C a, C b)
{
  return C{ a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x };
}

template <typename C> __device__ inline void fft_2(C &a, C &b)
{
  C sum = fft_add(a, b);
  b = fft_sub(a, b);
  a = sum;
}

template <typename C> __device__ inline void fft_4(C &a, C &b, C &c, C &d)
{
  C even = fft_add(a, c), odd = fft_add(b, d), left = fft_sub(a, c), right = fft_sub(b, d);
  a = fft_add(even, odd);
  c = fft_sub(even, odd);
  b = C{ left.x + right.y, left.y - right.x };
  d = C{ left.x - right.y, left.y + right.x };
}

/* cos and sin(2 pi k / R), computed at compile time. */
template <int R> struct FftRoots {
  double cosine[R], sine[R];

  /* cos(2 pi k / n) */
  static constexpr double cosine_of(int k, int n)
  {
    k = k % n < 0 ? k % n + n : k % n;
    k = 2 * k > n ? n - k : k;
    if (4 * k >= n)
      return 4 * k == n ? 0 : -cosine_of(n - 2 * k, 2 * n);
    double x = 6.28318530717958648 * k / n, term = 1, sum = 1;
    for (int i = 2; i < 30; i += 2) {
      term *= -x * x / (i * (i - 1));
      sum += term;
    }
    return sum;
  }
  constexpr FftRoots() : cosine(), sine()
  {
    for (int k = 0; k < R; k++) {
      cosine[k] = cosine_of(k, R);
      sine[k] = cosine_of(4 * k - R, 4 * R);
    }
  }
};

/* A transform of an odd number of points: k and R - k have equal cosines and opposite sines. */
template <int R, typename C> __device__ inline void fft_odd(C (&v)[R])
{
  using Part = decltype(C::x);
  constexpr FftRoots<R> roots;
  C sums[R / 2], differences[R / 2], first = v[0];
#pragma unroll
  for (int k = 1; k <= R / 2; k++) {
    sums[k - 1] = fft_add(v[k], v[R - k]);
    differences[k - 1] = fft_sub(v[k], v[R - k]);
    v[0] = fft_add(v[0], sums[k - 1]);
  }
#pragma unroll
  for (int m = 1; m <= R / 2; m++) {
    C even = first, odd = {};
#pragma unroll
    for (int k = 1; k <= R / 2; k++) {
      const Part cosine = (Part)roots.cosine[m * k % R], sine = (Part)roots.sine[m * k % R];
      even.x += cosine * sums[k - 1].x;
      even.y += cosine * sums[k - 1].y;
      odd.x += sine * differences[k - 1].x;
      odd.y += sine * differences[k - 1].y;
    }
    v[m] = C{ even.x + odd.y, even.y - odd.x };
    v[R - m] = C{ even.x - odd.y, even.y + odd.x };
  }
}

/* R = A x B for composite R. */
template <int R>
constexpr int FFT_A = R == 32                                              ? 8
                      : R == 25                                            ? 5
                      : R == 16 || R == 12 || R == 20 || R == 28           ? 4
                      : R == 9 || R == 15 || R == 21 || R == 24 || R == 27 ? 3
                      : R == 6 || R == 10 || R == 14 || R == 18 || R == 30 ? 2
                                                                           : 1;

/* Where the result of this number is after fft<R>. */
template <int R> __device__ constexpr int fft_place(int number)
{
  constexpr int A = R == 8 ? 2 : FFT_A<R>, B = R / A;
  if constexpr (A == 1)
    return number;
  else
    return number % B * A + fft_place<A>(number / B);
}

template <int R, typename C> __device__ inline void fft(C (&v)[R]);

/* Transforms points a, a + A, ... for each a, multiplies by twiddles, and transforms adjacent ones.
 */
template <int A, int B, typename C> __device__ inline void fft_composite(C (&v)[A * B])
{
  using Part = decltype(C::x);
  constexpr FftRoots<A * B> roots;
#pragma unroll
  for (int a = 0; a < A; a++) {
    C part[B];
#pragma unroll
    for (int b = 0; b < B; b++)
      part[b] = v[a + A * b];
    fft<B>(part);
#pragma unroll
    for (int k = 0; k < B; k++) {
      const C now = part[fft_place<B>(k)];
      v[a + A * k] =
          a && k ? fft_mul(now, C{ (Part)roots.cosine[a * k], (Part)-roots.sine[a * k] }) : now;
    }
  }
#pragma unroll
  for (int k = 0; k < B; k++) {
    C part[A];
#pragma unroll
    for (int a = 0; a < A; a++)
      part[a] = v[A * k + a];
    fft<A>(part);
#pragma unroll
    for (int a = 0; a < A; a++)
      v[A * k + a] = part[a];
  }
}

template <int R, typename C> __device__ inline void fft(C (&v)[R])
{
  using Part = decltype(C::x);
  if constexpr (FFT_A < R >> 1) {
    fft_composite<FFT_A<R>, R / FFT_A<R>>(v);
  } else if constexpr (R % 2) {
    fft_odd<R>(v);
  } else if constexpr (R == 2) {
    fft_2(v[0], v[1]);
  } else if constexpr (R == 4) {
    fft_4(v[0], v[1], v[2], v[3]);
  } else {
    static_assert(R == 8);
    constexpr Part C2 = (Part)0.70710678118654752;
    C even[4] = { v[0], v[2], v[4], v[6] }, odd[4] = { v[1], v[3], v[5], v[7] };
    fft_4(even[0], even[1], even[2], even[3]);
    fft_4(odd[0], odd[1], odd[2], odd[3]);
    odd[1] = C{ C2 * (odd[1].x + odd[1].y), C2 * (odd[1].y - odd[1].x) };
    odd[2] = C{ odd[2].y, -odd[2].x };
    odd[3] = C{ C2 * (odd[3].y - odd[3].x), -C2 * (odd[3].x + odd[3].y) };
#pragma unroll
    for (int k = 0; k < 4; k++) {
      v[2 * k] = fft_add(even[k], odd[k]);
      v[2 * k + 1] = fft_sub(even[k], odd[k]);
    }
  }
}

/* Multiplies element r by the twiddle to the power r, given the twiddle's powers 1, 2, 4 and 8, and
 * for more than 16 elements also 16. */
template <int R, int N, typename C>
__device__ inline void fft_twiddle(C (&v)[R], const C (&powers)[N])
{
  static_assert(R <= 1 << N);
  C w[R];
#pragma unroll
  for (int r = 1; r < R; r++) {
    const int high = r >= 16 ? 4 : r >= 8 ? 3 : r >= 4 ? 2 : r >= 2 ? 1 : 0, rest = r - (1 << high);
    w[r] = rest ? fft_mul(powers[high], w[rest]) : powers[high];
    v[r] = fft_mul(v[r], w[r]);
  }
}
