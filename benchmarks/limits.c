// What a careful C programmer gets on one core: the limit that emitted modules are raced against.
//
// One function per workload of race.py. Every one of them takes the state, moves it on by `draws * thin` steps, of
// Euler's scheme (all blocks from the old state) where nothing else is said, and writes every thin-th state to `out`;
// HMC also its acceptance, the mean probability of being accepted since the state before. Randomness is xoshiro256++:
// one generator and a ziggurat where each step waits for its draws, 8 generators side by side and Box-Muller where
// draws come in bulk. limits.py compiles this file and names the compiler.

#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("clang loop unroll(full)")
#define VECTORISED _Pragma("clang loop vectorize(assume_safety) vectorize_width(8) interleave_count(1) unroll(disable)")

enum { LANES = 8, BUFFER = 512, LARGEST_BATCH = 4096, INNER_ROWS = 8, PREFETCHED = 16 };

INLINE double as_double(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
INLINE uint64_t as_bits(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }

// ---- random bits: xoshiro256++ (Blackman, Vigna 2019), seeded by SplitMix64 ----

typedef struct { uint64_t s0, s1, s2, s3; } Stream;
typedef struct { uint64_t s0[LANES], s1[LANES], s2[LANES], s3[LANES]; } Streams;

INLINE uint64_t rotated(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

INLINE uint64_t next_bits(uint64_t *s0, uint64_t *s1, uint64_t *s2, uint64_t *s3) {
    uint64_t bits = rotated(*s0 + *s3, 23) + *s0, shifted = *s1 << 17;
    *s2 ^= *s0;
    *s3 ^= *s1;
    *s1 ^= *s2;
    *s0 ^= *s3;
    *s2 ^= shifted;
    *s3 = rotated(*s3, 45);
    return bits;
}

INLINE uint64_t split_mix(uint64_t *seed) {
    uint64_t z = (*seed += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

INLINE Stream stream(uint64_t seed) {
    return (Stream){split_mix(&seed), split_mix(&seed), split_mix(&seed), split_mix(&seed)};
}

INLINE Streams streams(uint64_t seed) {
    Streams g;
    for (int l = 0; l < LANES; l++) {
        g.s0[l] = split_mix(&seed);
        g.s1[l] = split_mix(&seed);
        g.s2[l] = split_mix(&seed);
        g.s3[l] = split_mix(&seed);
    }
    return g;
}

INLINE void next_lanes(Streams *g, uint64_t *bits) {
    VECTORISED for (int l = 0; l < LANES; l++) {
        uint64_t s0 = g->s0[l], s1 = g->s1[l], s2 = g->s2[l], s3 = g->s3[l];
        bits[l] = next_bits(&s0, &s1, &s2, &s3);
        g->s0[l] = s0, g->s1[l] = s1, g->s2[l] = s2, g->s3[l] = s3;
    }
}

// ---- elementary functions as polynomials, so that they vectorise ----

INLINE double log_poly(double x) {  // x in (0, 1]
    uint64_t bits = as_bits(x);
    int64_t exponent = (int64_t)(bits - 0x3fe6a09e667f3bcdULL) >> 52;  // so that m lies in [sqrt(1/2), sqrt(2))
    double m = as_double(bits - ((uint64_t)exponent << 52)), s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 0.1479819860511658591;
    p = p * z + 0.1531383769920937332;
    p = p * z + 0.1818357216161805012;
    p = p * z + 0.2222219843214978396;
    p = p * z + 0.2857142874366239149;
    p = p * z + 0.3999999999940941908;
    p = p * z + 0.6666666666666735130;
    return (double)exponent * 0.69314718055994530942 + (2.0 * s + s * z * p);
}

INLINE double exp_poly(double x) {
#pragma clang fp reassociate(off)  // else the number that rounds would cancel itself
    x = x < -700.0 ? -700.0 : (x > 700.0 ? 700.0 : x);
    uint64_t whole = as_bits(x * 1.44269504088896340736 + 6755399441055744.0);
#ifdef __clang__
    double k = as_double(whole) - 6755399441055744.0;
#else  // gcc has no such pragma, and its vectors forget what __builtin_assoc_barrier says
    double k = (double)(int64_t)(whole - as_bits(6755399441055744.0));
#endif
    double r = x - k * 0.693147180369123816490 - k * 1.90821492927058770002e-10;
    double p = 2.5052108385441718775e-8;
    p = p * r + 2.7557319223985890653e-7;
    p = p * r + 2.7557319223985892511e-6;
    p = p * r + 2.4801587301587301566e-5;
    p = p * r + 1.9841269841269841253e-4;
    p = p * r + 1.3888888888888889419e-3;
    p = p * r + 8.3333333333333332177e-3;
    p = p * r + 4.1666666666666664354e-2;
    p = p * r + 1.6666666666666665741e-1;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return as_double(as_bits(p) + (whole << 52));
}

INLINE double sigmoid(double x) { return 1.0 / (1.0 + exp_poly(-x)); }

// Cosine and sine of a uniform angle: 52 bits place it in an eighth turn, three say which.
INLINE void circle_point(uint64_t bits, double *cosine, double *sine) {
    double x = (as_double((bits >> 12) | 0x3ff0000000000000ULL) - 1.5) * 1.57079632679489661923, z = x * x;
    double s = 1.58962301576546568060e-10;
    s = s * z - 2.50507477628578072866e-8;
    s = s * z + 2.75573136213857245213e-6;
    s = s * z - 1.98412698295895385996e-4;
    s = s * z + 8.33333333332211858878e-3;
    s = s * z - 1.66666666666666307295e-1;
    s = x + x * z * s;
    double c = -1.13585365213876817300e-11;
    c = c * z + 2.08757008419747316778e-9;
    c = c * z - 2.75573141792967388112e-7;
    c = c * z + 2.48015872888517045348e-5;
    c = c * z - 1.38888888888730564116e-3;
    c = c * z + 4.16666666666665929218e-2;
    c = 1.0 - 0.5 * z + z * z * c;
    s = as_double(as_bits(s) ^ ((bits & 1) << 63));
    c = as_double(as_bits(c) ^ ((bits & 2) << 62));
    *sine = bits & 4 ? c : s;
    *cosine = bits & 4 ? s : c;
}

// ---- normals: Box and Muller (1958) in lanes, the ziggurat of Marsaglia and Tsang (2000) one by one ----

INLINE void normal_pair(uint64_t a, uint64_t b, double *first, double *second) {
    double u = as_double((a >> 12) | 0x3ff0000000000000ULL) - (1.0 - 0x1p-53), cosine, sine;
    circle_point(b, &cosine, &sine);
    double radius = sqrt(-2.0 * log_poly(u));
    *first = radius * sine;
    *second = radius * cosine;
}

INLINE void fill_normals(Streams *restrict g, double *restrict out, long size) {  // size is a multiple of 2 * LANES
    for (long i = 0; i < size; i += 2 * LANES) {
        uint64_t a[LANES], b[LANES];
        next_lanes(g, a);
        next_lanes(g, b);
        VECTORISED for (int l = 0; l < LANES; l++) normal_pair(a[l], b[l], &out[i + l], &out[i + LANES + l]);
    }
}

static const double EDGE = 3.6541528853610087963519472518, AREA = 4.92867323399e-3;
static double density[257], width[256];
static uint64_t inside[256];

__attribute__((constructor)) static void lay_out_layers(void) {
    double right[257] = {AREA / exp(-0.5 * EDGE * EDGE), EDGE};
    for (int k = 2; k < 256; k++)
        right[k] = sqrt(-2.0 * log(AREA / right[k - 1] + exp(-0.5 * right[k - 1] * right[k - 1])));
    right[256] = 0.0;
    for (int k = 0; k <= 256; k++) density[k] = exp(-0.5 * right[k] * right[k]);
    for (int k = 0; k < 256; k++) {
        inside[k] = (uint64_t)(right[k + 1] / right[k] * 0x1p52);
        width[k] = right[k] * 0x1p-52;
    }
}

INLINE uint64_t next(Stream *g) { return next_bits(&g->s0, &g->s1, &g->s2, &g->s3); }
INLINE double uniform(Stream *g) { return (double)(next(g) >> 11) * 0x1p-53; }

typedef struct { Stream g; double x; int accepted; } Edge;

// The rare case: x is in the tail, or beside the part of its layer that lies wholly under the density. The stream goes in
// and comes out by value, word by word, so that in the loops it stays in registers.
static __attribute__((noinline)) Edge normal_at_edge(uint64_t s0, uint64_t s1, uint64_t s2, uint64_t s3, int layer,
                                                     double x) {
    Stream g = {s0, s1, s2, s3};
    if (layer == 0) {
        double beyond, y;
        do {
            beyond = -log1p(-uniform(&g)) / EDGE;
            y = -log1p(-uniform(&g));
        } while (y + y < beyond * beyond);
        return (Edge){g, x < 0.0 ? -(EDGE + beyond) : EDGE + beyond, 1};
    }
    double height = density[layer] + uniform(&g) * (density[layer + 1] - density[layer]);
    return (Edge){g, x, height < exp(-0.5 * x * x)};
}

INLINE double normal(Stream *g) {
    for (;;) {
        uint64_t bits = next(g), place = bits >> 12;
        int layer = bits & 255;
        double x = as_double(as_bits((double)(int64_t)place * width[layer]) ^ ((bits & 256) << 55));
        if (__builtin_expect(place < inside[layer], 1)) return x;
        Edge edge = normal_at_edge(g->s0, g->s1, g->s2, g->s3, layer, x);
        g->s0 = edge.g.s0, g->s1 = edge.g.s1, g->s2 = edge.g.s2, g->s3 = edge.g.s3;
        if (edge.accepted) return edge.x;
    }
}

// ---- w1a: SGHMC, U = theta^4 - 2 theta^2 ----

void sghmc_double_well(long draws, long thin, double eps, double C, double *state, double *out, uint64_t seed) {
    Stream g = stream(seed);
    double theta = state[0], r = state[1], scale = sqrt(2.0 * C * eps);
    for (long k = 0; k < draws; k++) {
        for (long t = 0; t < thin; t++) {
            double grad_U = 4.0 * theta * (theta * theta - 1.0);
            double r_new = (r + scale * normal(&g)) - eps * (grad_U + C * r);
            theta += eps * r;
            r = r_new;
        }
        out[2 * k] = theta;
        out[2 * k + 1] = r;
    }
    state[0] = theta;
    state[1] = r;
}

// ---- baoab_w1a: the same by BAOAB; the gradient at the end of a step is that of the next one's first kick ----

void baoab_double_well(long draws, long thin, double eps, double C, double *state, double *out, uint64_t seed) {
    Stream g = stream(seed);
    double theta = state[0], r = state[1], half = 0.5 * eps;
    double decay = exp(-C * eps), scale = sqrt(-expm1(-2.0 * C * eps));
    double kick = half * 4.0 * theta * (theta * theta - 1.0);
    for (long k = 0; k < draws; k++) {
        for (long t = 0; t < thin; t++) {
            r -= kick;
            theta += half * r;
            r = decay * r + scale * normal(&g);
            theta += half * r;
            kick = half * 4.0 * theta * (theta * theta - 1.0);
            r -= kick;
        }
        out[2 * k] = theta;
        out[2 * k + 1] = r;
    }
    state[0] = theta;
    state[1] = r;
}

// ---- hmc_w1a: HMC on the same U, ten leapfrog steps and their acceptance ----

// Kicks of half a step that follow one another at the same place are one; theta waits for three operations a step.
void hmc_double_well(long draws, long thin, double eps, double *state, double *out, uint64_t seed) {
    Stream g = stream(seed);
    double theta = state[0], r = state[1], kick = -4.0 * eps, half = 0.5 * kick;
    double U = theta * theta * (theta * theta - 2.0);
    for (long k = 0; k < draws; k++) {
        double sum = 0.0;
        for (long t = 0; t < thin; t++) {
            double at = theta, start = normal(&g);
            r = start + half * at * (at * at - 1.0);
            for (int l = 1; l < 10; l++) {
                at += eps * r;
                r += kick * at * (at * at - 1.0);
            }
            at += eps * r;
            r += half * at * (at * at - 1.0);
            double U_at = at * at * (at * at - 2.0), log_ratio = U - U_at + 0.5 * (start * start - r * r);
            double probability = log_ratio < 0.0 ? exp(log_ratio) : 1.0;
            int accept = uniform(&g) < probability;
            theta = accept ? at : theta;
            r = accept ? r : -start;
            U = accept ? U_at : U;
            sum += probability;
        }
        out[3 * k] = theta;
        out[3 * k + 1] = r;
        out[3 * k + 2] = sum / thin;
    }
    state[0] = theta;
    state[1] = r;
}

// ---- scir: stochastic CIR of ten gamma variables, held as logarithms; shapes from batches without replacement ----

// The logarithm of a gamma variate (Marsaglia and Tsang 2000); below 1 that of shape a + 1, and log(u)/a.
INLINE double log_gamma_variate(double a, Stream *g) {
    double less = 0.0;
    if (a < 1.0) {
        less = log(1.0 - uniform(g)) / a;
        a += 1.0;
    }
    double d = a - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double x = normal(g), v = 1.0 + c * x;
        if (v <= 0.0) continue;
        v = v * v * v;
        double u = 1.0 - uniform(g), square = x * x;
        if (u < 1.0 - 0.0331 * square * square || log(u) < 0.5 * square + d * (1.0 - v + log(v)))
            return log(d * v) + less;
    }
}

// Products of uniforms below mean 10, PTRS (Hoermann 1993) above, with the constants of docs/decisions/speed.md.
INLINE double poisson_variate(double mean, Stream *g) {
    if (mean < 10.0) {
        double least = exp(-mean), product = 1.0 - uniform(g), count = 0.0;
        while (product > least) {
            product *= 1.0 - uniform(g);
            count += 1.0;
        }
        return count;
    }
    double root = sqrt(mean), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    double inverse = 1.1239 + 1.2 / (b - 3.4), sure = 0.9277 - 3.75 / (b - 2.0), log_mean = log(mean);
    for (;;) {
        double u = uniform(g) - 0.5, v = 1.0 - uniform(g), edge = 0.5 - fabs(u);
        double k = floor((2.0 * a / edge + b) * u + mean + 0.43);
        if (edge >= 0.07 && v <= sure) return k;
        if (k < 0.0 || (edge < 0.013 && v > edge)) continue;
        if (log(v * inverse / (a / (edge * edge) + b)) <= k * log_mean - mean - lgamma(k + 1.0)) return k;
    }
}

void scir_10(const double *z, long rows, long batch, long draws, long thin, double eps, double alpha, double *order,
             double *state, double *out, uint64_t seed) {
    Stream g = stream(seed);
    double grown = -expm1(-eps), factor = exp(-eps) / grown, log_grown = log(grown), scale = (double)rows / batch;
    for (long k = 0; k < draws; k++) {
        for (long t = 0; t < thin; t++) {
            double shape[10] = {0.0};
            for (long place = 0; place < batch; place++) {
                long other = place + (long)(uniform(&g) * (double)(rows - place));
                double row = order[other];
                order[other] = order[place];
                order[place] = row;
                for (int i = 0; i < 10; i++) shape[i] += z[10 * (long)row + i];
            }
            for (int i = 0; i < 10; i++) {
                double count = poisson_variate(exp(state[i]) * factor, &g);
                state[i] = log_grown + log_gamma_variate(alpha + scale * shape[i] + count, &g);
            }
        }
        for (int i = 0; i < 10; i++) out[10 * k + i] = state[i];
    }
}

// ---- w1b: gSGRHMC, U = theta^4 - 2 theta^2, G^-1 = 3/2 sqrt|U + 3/2|, K = sqrt(G^-1) ----

void gsgrhmc_double_well(long draws, long thin, double eps, double *state, double *out, uint64_t seed) {
    Stream g = stream(seed);
    double theta = state[0], r = state[1], scale = sqrt(2.0 * eps);
    for (long k = 0; k < draws; k++) {
        for (long t = 0; t < thin; t++) {
            double square = theta * theta, grad_U = 4.0 * theta * (square - 1.0);
            double shifted = square * (square - 2.0) + 1.5, root = sqrt(fabs(shifted));
            double inverse_metric = 1.5 * root, K = sqrt(inverse_metric);
            double div_K = 0.375 * copysign(1.0, shifted) * grad_U / (root * K);
            double r_new = r + eps * (div_K - K * grad_U - inverse_metric * r) + scale * K * normal(&g);
            theta += eps * K * r;
            r = r_new;
        }
        out[2 * k] = theta;
        out[2 * k + 1] = r;
    }
    state[0] = theta;
    state[1] = r;
}

// ---- w1c and w4: SGHMC, U = a^4/10 + (4 (b + 1.2) - a^2)^2/2 ----

INLINE void grad_plane(double a, double b, double *grad_a, double *grad_b) {
    double valley = 4.0 * (b + 1.2) - a * a;
    *grad_a = 0.4 * a * a * a - 2.0 * a * valley;
    *grad_b = 4.0 * valley;
}

INLINE void step_plane(double *a, double *b, double *r, double *s, double eps, double C, double noise_r, double noise_s) {
    double grad_a, grad_b, r_old = *r, s_old = *s;
    grad_plane(*a, *b, &grad_a, &grad_b);
    *a += eps * r_old;
    *b += eps * s_old;
    *r = (r_old + noise_r) - eps * (grad_a + C * r_old);
    *s = (s_old + noise_s) - eps * (grad_b + C * s_old);
}

void sghmc_plane(long draws, long thin, double eps, double C, double *state, double *out, uint64_t seed) {
    Stream g = stream(seed);
    double a = state[0], b = state[1], r = state[2], s = state[3], scale = sqrt(2.0 * C * eps);
    for (long k = 0; k < draws; k++) {
        for (long t = 0; t < thin; t++) {
            double noise_r = scale * normal(&g), noise_s = scale * normal(&g);
            step_plane(&a, &b, &r, &s, eps, C, noise_r, noise_s);
        }
        out[4 * k] = a, out[4 * k + 1] = b, out[4 * k + 2] = r, out[4 * k + 3] = s;
    }
    state[0] = a, state[1] = b, state[2] = r, state[3] = s;
}

// Chains as lanes: eight chains stay in registers for all their steps. `state` is [4][chains], `out` [draws][4][chains].
void sghmc_plane_lanes(long chains, long draws, long thin, double eps, double C, double *restrict state,
                       double *restrict out, uint64_t seed) {
    Streams g = streams(seed);
    double scale = sqrt(2.0 * C * eps);
    for (long c = 0; c < chains; c += LANES) {
        double a[LANES], b[LANES], r[LANES], s[LANES];
        for (int l = 0; l < LANES; l++) a[l] = state[c + l], b[l] = state[chains + c + l];
        for (int l = 0; l < LANES; l++) r[l] = state[2 * chains + c + l], s[l] = state[3 * chains + c + l];
        for (long k = 0; k < draws; k++) {
            for (long t = 0; t < thin; t++) {
                uint64_t first[LANES], second[LANES];
                next_lanes(&g, first);
                next_lanes(&g, second);
                VECTORISED for (int l = 0; l < LANES; l++) {
                    double noise_r, noise_s, a_l = a[l], b_l = b[l], r_l = r[l], s_l = s[l];
                    normal_pair(first[l], second[l], &noise_r, &noise_s);
                    step_plane(&a_l, &b_l, &r_l, &s_l, eps, C, scale * noise_r, scale * noise_s);
                    a[l] = a_l, b[l] = b_l, r[l] = r_l, s[l] = s_l;
                }
            }
            double *kept = out + 4 * k * chains + c;
            for (int l = 0; l < LANES; l++) kept[l] = a[l], kept[chains + l] = b[l];
            for (int l = 0; l < LANES; l++) kept[2 * chains + l] = r[l], kept[3 * chains + l] = s[l];
        }
        for (int l = 0; l < LANES; l++) state[c + l] = a[l], state[chains + c + l] = b[l];
        for (int l = 0; l < LANES; l++) state[2 * chains + c + l] = r[l], state[3 * chains + c + l] = s[l];
    }
}

// ---- w5: SGLD, U = theta.theta/2 ----

void sgld_normal(long size, long draws, long thin, double eps, double *theta, double *out, uint64_t seed) {
    Streams g = streams(seed);
    double scale = sqrt(2.0 * eps), noise[BUFFER];
    for (long k = 0; k < draws; k++) {
        for (long t = 0; t < thin; t++)
            for (long begin = 0; begin < size; begin += BUFFER) {
                long some = size - begin < BUFFER ? size - begin : BUFFER;
                fill_normals(&g, noise, (some + 2 * LANES - 1) / (2 * LANES) * (2 * LANES));
                for (long i = 0; i < some; i++) theta[begin + i] += -eps * theta[begin + i] + scale * noise[i];
            }
        memcpy(out + k * size, theta, size * sizeof *theta);
    }
}

// ---- w2 and w3: SGHMC, Bayesian logistic regression, minibatches drawn with replacement ----

INLINE void draw_batch(Streams *g, int *batch, long size, double rows) {
    for (long i = 0; i < size; i += LANES) {
        uint64_t bits[LANES];
        next_lanes(g, bits);
        VECTORISED for (int l = 0; l < LANES; l++)
            batch[i + l] = (int)((as_double((bits[l] >> 12) | 0x3ff0000000000000ULL) - 1.0) * rows);
    }
}

// Sum of (sigmoid(x.theta) - y) x over a batch, few columns: everything of one row in scalars, vectors across rows.
INLINE void grad_narrow(const double *restrict x, const double *restrict y, const int *restrict batch, long size,
                        const double *restrict theta, double *restrict grad, const int d) {
    double sum[16], coefficient[16];
    UNROLLED for (int j = 0; j < d; j++) coefficient[j] = theta[j], sum[j] = 0.0;
    for (long i = 0; i < size; i++) {
        double entry[16], predictor = 0.0;
        UNROLLED for (int j = 0; j < d; j++) entry[j] = x[(long)batch[i] * d + j];
        UNROLLED for (int j = 0; j < d; j++) predictor += entry[j] * coefficient[j];
        double weight = sigmoid(predictor) - y[batch[i]];
        UNROLLED for (int j = 0; j < d; j++) sum[j] += weight * entry[j];
    }
    UNROLLED for (int j = 0; j < d; j++) grad[j] = sum[j];
}

typedef double Vector __attribute__((vector_size(8 * LANES), aligned(8)));

#define SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

// The sums of eight vectors as one: halves are added, then halves of these, side by side.
INLINE Vector sums(const Vector *v) {
    Vector pairs[4], fours[2];
    for (int k = 0; k < 4; k++)
        pairs[k] = SHUFFLED(v[2 * k], v[2 * k + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
                   SHUFFLED(v[2 * k], v[2 * k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    for (int k = 0; k < 2; k++)
        fours[k] = SHUFFLED(pairs[2 * k], pairs[2 * k + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
                   SHUFFLED(pairs[2 * k], pairs[2 * k + 1], 2, 3, 10, 11, 6, 7, 14, 15);
    return SHUFFLED(fours[0], fours[1], 0, 1, 2, 3, 8, 9, 10, 11) +
           SHUFFLED(fours[0], fours[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

// The same sum for 8 < d <= 16: a row is two vectors, of which the second begins at d - 8; what is in both counts once.
// Where `energy` is given it becomes the sum of softplus(x.theta) - y x.theta.
INLINE void grad_and_energy_rows(const double *restrict x, const double *restrict y, const int *restrict batch, long size,
                                 const double *restrict theta, double *restrict grad, double *energy, const int d) {
    double energies[LANES] = {0.0};
    Vector first, last, sum_first = {0.0}, sum_last = {0.0};
    memcpy(&first, theta, sizeof first);
    UNROLLED for (int l = 0; l < LANES; l++) last[l] = l < 2 * LANES - d ? 0.0 : theta[d - LANES + l];
    for (long begin = 0; begin < size; begin += LANES) {
        double weight[LANES];
        Vector heads[LANES], tails[LANES], products[LANES], predictors;
        UNROLLED for (int k = 0; k < LANES; k++) {
            const double *row = x + (long)batch[begin + k] * d;
            memcpy(&heads[k], row, sizeof heads[k]);
            memcpy(&tails[k], row + d - LANES, sizeof tails[k]);
            products[k] = heads[k] * first + tails[k] * last;
        }
        predictors = sums(products);
        memcpy(weight, &predictors, sizeof weight);
        if (energy) {
            double each[LANES];
            VECTORISED for (int k = 0; k < LANES; k++)
                each[k] = (weight[k] > 0.0 ? weight[k] : 0.0) - log_poly(1.0 / (1.0 + exp_poly(-fabs(weight[k]))));
            for (int k = 0; k < LANES; k++)
                energies[k] += begin + k < size ? each[k] - y[batch[begin + k]] * weight[k] : 0.0;
        }
        VECTORISED for (int k = 0; k < LANES; k++) weight[k] = sigmoid(weight[k]);
        for (int k = 0; k < LANES; k++) weight[k] = begin + k < size ? weight[k] - y[batch[begin + k]] : 0.0;
        UNROLLED for (int k = 0; k < LANES; k++) {
            sum_first += weight[k] * heads[k];
            sum_last += weight[k] * tails[k];
        }
    }
    for (int l = 0; l < LANES; l++) grad[l] = sum_first[l];
    for (int l = 2 * LANES - d; l < LANES; l++) grad[d - LANES + l] = sum_last[l];
    if (energy) {
        *energy = 0.0;
        for (int l = 0; l < LANES; l++) *energy += energies[l];
    }
}

INLINE void grad_rows(const double *restrict x, const double *restrict y, const int *restrict batch, long size,
                      const double *restrict theta, double *restrict grad, const int d) {
    grad_and_energy_rows(x, y, batch, size, theta, grad, 0, d);
}

// The same sum, many columns: eight rows at a time stay in the cache between their dots and their weighted sum. A batch
// of NULL stands for all rows in their order.
INLINE void grad_wide(const double *restrict x, const double *restrict y, const int *restrict batch, long size,
                      const double *restrict theta, double *restrict grad, const int d) {
    double sum[128];
    for (int j = 0; j < d; j++) sum[j] = 0.0;
    for (long begin = 0; begin < size; begin += INNER_ROWS) {
        double weight[INNER_ROWS] = {0.0};
        int some = size - begin < INNER_ROWS ? (int)(size - begin) : INNER_ROWS;
        for (int k = 0; k < some; k++) {
            long i = begin + k;
            if (batch && i + PREFETCHED < size)
                for (int byte = 0; byte < 8 * d; byte += 64)
                    __builtin_prefetch((const char *)(x + (long)batch[i + PREFETCHED] * d) + byte);
            const double *row = x + (batch ? batch[i] : i) * d;
            double predictor = 0.0;
            for (int j = 0; j < d; j++) predictor += row[j] * theta[j];
            weight[k] = predictor;
        }
        for (int k = 0; k < INNER_ROWS; k++) weight[k] = sigmoid(weight[k]);
        for (int k = 0; k < some; k++) {
            long i = batch ? batch[begin + k] : begin + k;
            double w = weight[k] - y[i];
            for (int j = 0; j < d; j++) sum[j] += w * x[i * d + j];
        }
    }
    for (int j = 0; j < d; j++) grad[j] = sum[j];
}

// `state` is theta, then r.
#define SGHMC_LOGISTIC(d, grad_sum)                                                                                  \
    void sghmc_logistic_##d(const double *x, const double *y, long rows, long size, long draws, long thin,           \
                            double eps, double C, double prior_variance, double *state, double *out,                 \
                            uint64_t seed) {                                                                         \
        Stream noise = stream(seed);                                                                                 \
        Streams places = streams(seed + 77);                                                                         \
        int batch[LARGEST_BATCH + LANES];                                                                            \
        double grad[d], theta[d], r[d], each = (double)rows / size, scale = sqrt(2.0 * C * eps);                     \
        memcpy(theta, state, sizeof theta);                                                                          \
        memcpy(r, state + d, sizeof r);                                                                              \
        for (long k = 0; k < draws; k++) {                                                                           \
            for (long t = 0; t < thin; t++) {                                                                        \
                draw_batch(&places, batch, size, (double)rows);                                                      \
                grad_sum(x, y, batch, size, theta, grad, d);                                                         \
                for (int j = 0; j < d; j++) {                                                                        \
                    double r_old = r[j], grad_U = each * grad[j] + theta[j] / prior_variance;                        \
                    r[j] += -eps * (grad_U + C * r_old) + scale * normal(&noise);                                    \
                    theta[j] += eps * r_old;                                                                         \
                }                                                                                                    \
            }                                                                                                        \
            memcpy(out + 2 * d * k, theta, sizeof theta);                                                            \
            memcpy(out + 2 * d * k + d, r, sizeof r);                                                                \
        }                                                                                                            \
        memcpy(state, theta, sizeof theta);                                                                          \
        memcpy(state + d, r, sizeof r);                                                                              \
    }

SGHMC_LOGISTIC(2, grad_narrow)
SGHMC_LOGISTIC(14, grad_rows)
SGHMC_LOGISTIC(100, grad_wide)

// ---- hmc_logistic: HMC, ten leapfrog steps and their acceptance, all rows; `state` is theta, then r ----

enum { COLUMNS = 14 };

INLINE double grad_and_energy(const double *x, const double *y, const int *all, long rows, double prior_variance,
                              const double *theta, double *grad, const int with_energy) {
    double energy = 0.0, square = 0.0;
    grad_and_energy_rows(x, y, all, rows, theta, grad, with_energy ? &energy : 0, COLUMNS);
    for (int j = 0; j < COLUMNS; j++) grad[j] += theta[j] / prior_variance, square += theta[j] * theta[j];
    return energy + 0.5 * square / prior_variance;
}

void hmc_logistic_14(const double *x, const double *y, long rows, long draws, long thin, double eps,
                     double prior_variance, double *state, double *out, uint64_t seed) {
    enum { d = COLUMNS };
    Stream g = stream(seed);
    int all[LARGEST_BATCH + LANES];
    double theta[d], r[d], grad[d], at[d], start[d], grad_at[d];
    for (long i = 0; i < rows + LANES; i++) all[i] = i < rows ? (int)i : 0;
    memcpy(theta, state, sizeof theta);
    memcpy(r, state + d, sizeof r);
    double U = grad_and_energy(x, y, all, rows, prior_variance, theta, grad, 1);
    for (long k = 0; k < draws; k++) {
        double sum = 0.0;
        for (long t = 0; t < thin; t++) {
            double U_at, kinetic = 0.0;
            for (int j = 0; j < d; j++) start[j] = normal(&g);
            for (int j = 0; j < d; j++) {
                at[j] = theta[j];
                r[j] = start[j] - 0.5 * eps * grad[j];
                kinetic += start[j] * start[j];
            }
            for (int l = 1; l < 10; l++) {
                for (int j = 0; j < d; j++) at[j] += eps * r[j];
                grad_and_energy(x, y, all, rows, prior_variance, at, grad_at, 0);
                for (int j = 0; j < d; j++) r[j] -= eps * grad_at[j];
            }
            for (int j = 0; j < d; j++) at[j] += eps * r[j];
            U_at = grad_and_energy(x, y, all, rows, prior_variance, at, grad_at, 1);
            for (int j = 0; j < d; j++) {
                r[j] -= 0.5 * eps * grad_at[j];
                kinetic -= r[j] * r[j];
            }
            double log_ratio = U - U_at + 0.5 * kinetic, probability = log_ratio < 0.0 ? exp(log_ratio) : 1.0;
            if (uniform(&g) < probability) {
                memcpy(theta, at, sizeof theta);
                memcpy(grad, grad_at, sizeof grad);
                U = U_at;
            } else {
                for (int j = 0; j < d; j++) r[j] = -start[j];
            }
            sum += probability;
        }
        double *kept = out + (2 * d + 1) * k;
        memcpy(kept, theta, sizeof theta);
        memcpy(kept + d, r, sizeof r);
        kept[2 * d] = sum / thin;
    }
    memcpy(state, theta, sizeof theta);
    memcpy(state + d, r, sizeof r);
}

void grad_logistic_100(const double *x, const double *y, long rows, const double *theta, double *grad) {
    grad_wide(x, y, 0, rows, theta, grad, 100);
}

double read_all(const double *x, long size) {
    double sum = 0.0;
    for (long i = 0; i < size; i++) sum += x[i];
    return sum;
}
