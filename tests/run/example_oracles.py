"""Every kernel of examples/ against an oracle written in NumPy from the mathematics, in f64.

Each case runs `tkc run` on inputs made here, at sizes that divide by the tiles and at sizes that do
not, and compares what the kernel wrote. Usage: example_oracles.py TKC EXAMPLES [FILE...]
"""

import numpy as np

from numpy_cases import Case, case, main


def cdiv(a, b):
    return -(-a // b)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def wide(*arrays):
    return [a.astype(np.float64) for a in arrays]


# --- 01 and 02 --------------------------------------------------------------------------------------


@case("01_vector_add", "vector_add", 4096, 5000)
def vector_add(rng, n):
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    return Case(dict(x=x, y=y, z="empty:f32:%d" % n), dict(z=x + y), rtol=0, atol=0)


@case("01_vector_add", "vector_add_ptr", 4096, 5000)
def vector_add_ptr(rng, n):
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    return Case(dict(x=x, y=y, z="empty:f32:%d" % n, n=n), dict(z=x + y), rtol=0, atol=0)


def softmax_case(rng, size):
    x = rng.standard_normal(size, dtype=np.float32)
    return Case(dict(x=x, y="empty:f32:%dx%d" % size), dict(y=softmax(x.astype(np.float64))),
                rtol=1e-5, atol=1e-7)


for name in ("softmax", "softmax_rows", "softmax_stream"):
    case("02_softmax", name, (8, 1024), (7, 781))(softmax_case)

# --- 03: products -----------------------------------------------------------------------------------


@case("03_matmul", "matmul", (64, 64, 64), (70, 50, 33))
def matmul(rng, size):
    m, n, k = size
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    wa, wb = wide(a, b)
    return Case(dict(a=a, b=b, c="empty:f16:%dx%d" % (m, n)), dict(c=wa @ wb),
                ["BM=32", "BN=32", "BK=16"], rtol=2e-3, atol=2e-3)


@case("03_matmul", "linear", (64, 64, 64, True), (70, 50, 33, False))
def linear(rng, size):
    m, n, k, bias = size
    x = rng.standard_normal((m, k)).astype(np.float16)
    w = rng.standard_normal((n, k)).astype(np.float16)
    b = rng.standard_normal(n).astype(np.float16)
    wx, ww, wb = wide(x, w, b)
    y = np.maximum(wx @ ww.T + (wb if bias else 0), 0)
    args = dict(x=x, w=w, y="empty:f16:%dx%d" % (m, n))
    if bias:
        args["bias"] = b
    return Case(args, dict(y=y), ["BM=32", "BN=32", "BK=16", "ACT=relu"], rtol=2e-3, atol=2e-3)


# --- 04: dropout ------------------------------------------------------------------------------------


@case("04_dropout", "dropout", 2048, 3000)
def dropout(rng, n):
    x = rng.standard_normal(n, dtype=np.float32)
    keep = rng.random(n) < 0.7
    return Case(dict(x=x, keep=keep, y="empty:f32:%d" % n, p=0.5),
                dict(y=np.where(keep, x.astype(np.float64) / 0.5, 0)), rtol=1e-6, atol=0)


def philox(seed, offset):
    """Philox 4x32-10 of arrays of 64-bit offsets: the first of the four words."""
    mask = np.uint64(0xFFFFFFFF)
    offset = offset.astype(np.uint64)
    x = [offset & mask, offset >> np.uint64(32), np.zeros_like(offset), np.zeros_like(offset)]
    k = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32 & 0xFFFFFFFF)]
    for _ in range(10):
        p, q = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(q >> np.uint64(32)) ^ x[1] ^ k[0], q & mask, (p >> np.uint64(32)) ^ x[3] ^ k[1], p & mask]
        k = [(k[0] + np.uint64(0x9E3779B9)) & mask, (k[1] + np.uint64(0xBB67AE85)) & mask]
    return x[0].astype(np.uint32)


def uniform(words):
    x = words.astype(np.int32).astype(np.int64)
    return (np.where(x < 0, -x - 1, x).astype(np.float32) * np.float32(4.6566127342e-10)).astype(np.float32)


@case("04_dropout", "seeded_dropout", 2048, 3000)
def seeded_dropout(rng, n):
    x = rng.standard_normal(n, dtype=np.float32)
    seed = 0x1234567890
    keep = uniform(philox(seed, np.arange(n))) > np.float32(0.3)
    y = np.where(keep, x / (np.float32(1) - np.float32(0.3)), np.float32(0))
    return Case(dict(x=x, y="empty:f32:%d" % n, p=0.3, seed=seed), dict(y=y), rtol=1e-6, atol=0)


# --- 05: norms --------------------------------------------------------------------------------------


@case("05_layer_norm", "layer_norm", (8, 1024), (7, 700))
def layer_norm(rng, size):
    m, n = size
    x = (rng.standard_normal(size) * 2 + 3).astype(np.float32)
    w, b = rng.standard_normal((2, n), dtype=np.float32)
    wx, ww, wb = wide(x, w, b)
    mean = wx.mean(axis=1)
    rstd = 1 / np.sqrt(wx.var(axis=1) + 1e-5)
    y = (wx - mean[:, None]) * rstd[:, None] * ww + wb
    args = dict(x=x, w=w, b=b, y="empty:f32:%dx%d" % size, mean="empty:f32:%d" % m, rstd="empty:f32:%d" % m)
    return Case(args, dict(y=y, mean=mean, rstd=rstd), rtol=1e-4, atol=1e-5)


@case("05_layer_norm", "layer_norm_backward", (8, 1024, 4), (7, 700, 3))
def layer_norm_backward(rng, size):
    m, n, parts = size
    x, dy = rng.standard_normal((2, m, n), dtype=np.float32)
    w = rng.standard_normal(n, dtype=np.float32)
    wx, wdy, ww = wide(x, dy, w)
    mean, rstd = wx.mean(axis=1), 1 / np.sqrt(wx.var(axis=1) + 1e-5)
    h = (wx - mean[:, None]) * rstd[:, None]
    g = wdy * ww
    dx = (g - g.mean(axis=1)[:, None] - h * (g * h).mean(axis=1)[:, None]) * rstd[:, None]
    args = dict(dy=dy, x=x, w=w, mean=mean.astype(np.float32), rstd=rstd.astype(np.float32))
    dw = np.stack([(args["dy"] * h)[p::parts].sum(axis=0) for p in range(parts)])
    db = np.stack([args["dy"].astype(np.float64)[p::parts].sum(axis=0) for p in range(parts)])
    part = "empty:f32:%dx%d" % (parts, n)
    args.update(dx="empty:f32:%dx%d" % (m, n), dw=part, db=part)
    return Case(args, dict(dx=dx, dw=dw, db=db), rtol=1e-4, atol=1e-4)


@case("05_layer_norm", "layer_norm_sum", (32, 256), (37, 200))
def layer_norm_sum(rng, size):
    w, b = rng.standard_normal((2, *size), dtype=np.float32)
    out = "empty:f32:%d" % size[1]
    return Case(dict(dw_part=w, db_part=b, dw=out, db=out),
                dict(dw=w.astype(np.float64).sum(axis=0), db=b.astype(np.float64).sum(axis=0)),
                rtol=1e-5, atol=1e-5)


def rms_norm(rng, size):
    x = rng.standard_normal(size, dtype=np.float32)
    w = rng.standard_normal(size[1], dtype=np.float32)
    wx, ww = wide(x, w)
    y = wx / np.sqrt((wx * wx).mean(axis=1) + 1e-5)[:, None] * ww
    return Case(dict(x=x, w=w, y="empty:f32:%dx%d" % size), dict(y=y), rtol=1e-5, atol=1e-6)


for name in ("rms_norm", "rms_norm_rows"):
    case("05_rms_norm", name, (8, 1024), (7, 700))(rms_norm)


@case("05_rms_norm", "rms_norm_backward", (8, 1024, 4), (7, 700, 3))
def rms_norm_backward(rng, size):
    m, n, parts = size
    x, dy = rng.standard_normal((2, m, n), dtype=np.float32)
    w = rng.standard_normal(n, dtype=np.float32)
    wx, wdy, ww = wide(x, dy, w)
    scale = 1 / np.sqrt((wx * wx).mean(axis=1) + 1e-5)[:, None]
    h, g = wx * scale, wdy * ww
    dx = (g - h * (g * h).mean(axis=1)[:, None]) * scale
    dw = np.stack([(wdy * h)[p::parts].sum(axis=0) for p in range(parts)])
    args = dict(dy=dy, x=x, w=w, dx="empty:f32:%dx%d" % (m, n), dw="empty:f32:%dx%d" % (parts, n))
    return Case(args, dict(dx=dx, dw=dw), rtol=1e-4, atol=1e-4)


# --- 06: attention ----------------------------------------------------------------------------------


def attention_math(q, k, v, scale, causal):
    """Output and log of the sums; heads of k and v are shared by groups of heads of q."""
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    s = q @ k.swapaxes(2, 3) * scale
    if causal:
        sq, sk = s.shape[2:]
        s = np.where(np.arange(sk) <= np.arange(sq)[:, None] + (sk - sq), s, -np.inf)
    top = s.max(axis=3, keepdims=True)
    e = np.exp(s - top)
    total = e.sum(axis=3, keepdims=True)
    return e / total @ v, (top + np.log(total))[..., 0], e / total


@case("06_attention", "attention", (1, 2, 64, False, True), (2, 1, 50, True, True), (1, 1, 50, True, False))
def attention(rng, size):
    b, h, s, causal, split = size
    q, k, v = (rng.standard_normal((b, h, s, 32)).astype(np.float16) for _ in range(3))
    o, lse, _ = attention_math(*wide(q, k, v), 0.2, causal)
    args = dict(q=q, k=k, v=v, o="empty:f16:%dx%dx%dx32" % (b, h, s), lse="empty:f32:%dx%dx%d" % (b, h, s), scale=0.2)
    return Case(args, dict(o=o, lse=lse), ["D=32", "BM=16", "BN=32", "CAUSAL=%s" % str(causal).lower(), "SPLIT=%s" % str(split).lower()],
                rtol=5e-3, atol=5e-3)


@case("06_attention", "attention_delta", (1, 2, 64), (2, 1, 50))
def attention_delta(rng, size):
    b, h, s = size
    o, go = (rng.standard_normal((b, h, s, 32)).astype(np.float16) for _ in range(2))
    wo, wgo = wide(o, go)
    return Case(dict(o=o, go=go, delta="empty:f32:%dx%dx%d" % size), dict(delta=(wo * wgo).sum(axis=3)),
                ["T=f16", "D=32", "BM=16"])


@case("06_attention", "attention_backward", (1, 2, 1, 64, 64, False), (2, 2, 2, 40, 50, True))
def attention_backward(rng, size):
    b, h, hk, sq, sk, causal = size
    q, go = (rng.standard_normal((b, h, sq, 32)).astype(np.float16) for _ in range(2))
    k, v = (rng.standard_normal((b, hk, sk, 32)).astype(np.float16) for _ in range(2))
    wq, wk, wv, wgo = wide(q, k, v, go)
    scale, group = 0.2, h // hk
    o, lse, p = attention_math(wq, wk, wv, scale, causal)
    delta = (o * wgo).sum(axis=3)
    kk, vv = np.repeat(wk, group, axis=1), np.repeat(wv, group, axis=1)
    ds = p * (wgo @ vv.swapaxes(2, 3) - delta[..., None]) * scale
    share = lambda x: x.reshape(b, hk, group, sk, 32).sum(axis=2)
    want = dict(dq=ds @ kk, dk=share(ds.swapaxes(2, 3) @ wq), dv=share(p.swapaxes(2, 3) @ wgo))
    keys = "empty:f16:%dx%dx%dx32" % (b, hk, sk)
    args = dict(q=q, k=k, v=v, go=go, lse=lse.astype(np.float32), delta=delta.astype(np.float32),
                dq="zeros:f32:%dx%dx%dx32" % (b, h, sq), dk=keys, dv=keys, scale=scale)
    return Case(args, want, ["T=f16", "D=32", "BM=16", "BN=32", "CAUSAL=%s" % str(causal).lower()],
                rtol=1e-2, atol=1e-2)


# --- 07 and 09: groups ------------------------------------------------------------------------------


@case("07_grouped_gemm", "grouped_gemm", (64, 32, [0, 32, 64]), (40, 50, [0, 17, 17, 60]))
def grouped_gemm(rng, size):
    n, k, offs = size
    total, experts = offs[-1], len(offs) - 1
    a = rng.standard_normal((total, k)).astype(np.float16)
    w = rng.standard_normal((experts, k, n)).astype(np.float16)
    wa, ww = wide(a, w)
    c = np.concatenate([wa[lo:hi] @ ww[e] for e, (lo, hi) in enumerate(zip(offs, offs[1:]))])
    args = dict(a=a, w=w, offs=np.array(offs, np.int32), c="empty:f16:%dx%d" % (total, n))
    return Case(args, dict(c=c), ["BM=16", "BN=32", "BK=16"])


@case("09_fused_moe", "fused_moe", (16, 32, 32, 3), (21, 40, 50, 4))
def fused_moe(rng, size):
    tokens, n, k, experts = size
    topk, block = 2, 16
    a = rng.standard_normal((tokens, k)).astype(np.float16)
    w = rng.standard_normal((experts, n, k)).astype(np.float16)
    weight = rng.random(tokens * topk, dtype=np.float32)
    choice = rng.integers(0, experts, tokens * topk)
    ids, expert = [], []
    for e in range(experts):
        mine = list(np.flatnonzero(choice == e))
        mine += [-1] * (-len(mine) % block)
        ids += mine
        expert += [e] * (len(mine) // block)
    wa, ww, wweight = wide(a, w, weight)
    c = np.stack([wa[s // topk] @ ww[choice[s]].T * wweight[s] for s in range(tokens * topk)])
    args = dict(a=a, w=w, weight=weight, ids=np.array(ids, np.int32), expert=np.array(expert, np.int32),
                padded=np.array(len(ids), np.int32), c="empty:f16:%dx%d" % (tokens * topk, n))
    return Case(args, dict(c=c), ["TOPK=2", "BM=16", "BN=32", "BK=16"])


@case("07_grouped_gemm", "grouped_gemm_pointers", [(32, 32, 32), (64, 32, 16)], [(17, 40, 33), (5, 70, 20)])
def grouped_gemm_pointers(rng, sizes):
    a = [rng.standard_normal((m, k)).astype(np.float16) for m, n, k in sizes]
    b = [rng.standard_normal((k, n)).astype(np.float16) for m, n, k in sizes]
    c = [x.astype(np.float64) @ y.astype(np.float64) for x, y in zip(a, b)]
    args = {"as": a, "bs": b, "cs": ["empty:f16:%dx%d" % x.shape for x in c], "mnk": np.array(sizes, np.int32)}
    return Case(args, dict(cs=c), ["BM=16", "BN=32", "BK=16"])


# --- 08: decoding -----------------------------------------------------------------------------------


@case("08_paged_decode", "paged_decode", ([64, 32], 2), ([37, 5, 90], 3))
def paged_decode(rng, size):
    lens, splits = size
    batch, hk, group, d, page = len(lens), 2, 4, 32, 8
    pages = [cdiv(n, page) for n in lens]
    total = sum(pages)
    order = rng.permutation(total)
    table = np.full((batch, max(pages)), -1, np.int32)
    at = 0
    for i, count in enumerate(pages):
        table[i, :count] = order[at : at + count]
        at += count
    q = rng.standard_normal((batch, hk * group, d)).astype(np.float16)
    kc, vc = (rng.standard_normal((total, page, hk, d)).astype(np.float16) for _ in range(2))
    wq, wk, wv = wide(q, kc, vc)
    scale, bn = 0.2, 16
    part = np.zeros((splits, batch, hk * group, d))
    lse = np.full((splits, batch, hk * group), -np.inf)
    for b in range(batch):
        step = cdiv(cdiv(lens[b], splits), bn) * bn
        pos = np.arange(lens[b])
        keys, values = wk[table[b, pos // page], pos % page], wv[table[b, pos // page], pos % page]
        for s in range(splits):
            lo, hi = s * step, min(lens[b], (s + 1) * step)
            if lo >= hi:
                continue
            for h in range(hk * group):
                score = keys[lo:hi, h // group] @ wq[b, h] * scale
                part[s, b, h] = softmax(score) @ values[lo:hi, h // group]
                lse[s, b, h] = np.log(np.exp(score).sum())
    args = dict(q=q, kc=kc, vc=vc, table=table, lens=np.array(lens, np.int32),
                part="empty:f32:%dx%dx%dx%d" % part.shape, lse="empty:f32:%dx%dx%d" % lse.shape, scale=scale)
    return Case(args, dict(part=part, lse=lse), ["D=32", "G=4", "PAGE=8", "BN=16"], rtol=5e-3, atol=5e-3)


# --- 10 to 13 ---------------------------------------------------------------------------------------


@case("10_rope", "rope", (4, 8, 8), (3, 5, 2))
def rope(rng, size):
    s, h, hk = size
    d, positions = 32, 50
    q = rng.standard_normal((s, h, d)).astype(np.float16)
    k = rng.standard_normal((s, hk, d)).astype(np.float16)
    angle = rng.random((positions, d // 2)) * 6
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    pos = rng.integers(0, positions, s)

    def turn(x):
        c, n = cos[pos][:, None, :].astype(np.float64), sin[pos][:, None, :].astype(np.float64)
        a, b = x[..., : d // 2].astype(np.float64), x[..., d // 2 :].astype(np.float64)
        return np.concatenate([a * c - b * n, b * c + a * n], axis=2)

    return Case(dict(q=q, k=k, cos=cos, sin=sin, pos=pos), dict(q=turn(q), k=turn(k)), ["D=32", "HB=4"],
                rtol=2e-3, atol=2e-3)


@case("11_cross_entropy", "cross_entropy", (6, 128), (5, 300))
def cross_entropy(rng, size):
    rows, vocabulary = size
    logits = rng.standard_normal(size, dtype=np.float32) * 3
    target = rng.integers(0, vocabulary, rows)
    target[2] = -100
    p = softmax(logits.astype(np.float64))
    gradient = p.copy()
    gradient[np.arange(rows), target] -= 1
    loss = -np.log(p[np.arange(rows), target])
    gradient[2] = loss[2] = 0
    args = dict(logits=logits, target=target, loss="empty:f32:%d" % rows, scale=0.5)
    return Case(args, dict(logits=gradient * 0.5, loss=loss * 0.5), ["BLOCK=128"], rtol=1e-4, atol=1e-5)


def unpack4(words, axis):
    parts = np.stack([(words >> (4 * i)) & 15 for i in range(8)], axis=axis + 1)
    shape = list(words.shape)
    shape[axis] *= 8
    return parts.reshape(shape).astype(np.float64)


@case("12_w4a16", "w4a16", (32, 32, 64, True), (21, 40, 64, False))
def w4a16(rng, size):
    m, n, k, zeros = size
    group = 32
    a = rng.standard_normal((m, k)).astype(np.float16)
    qw = rng.integers(0, 2**32, (k // 8, n), dtype=np.uint32)
    qz = rng.integers(0, 2**32, (k // group, n // 8), dtype=np.uint32)
    s = (rng.random((k // group, n)) * 0.1).astype(np.float16)
    z = unpack4(qz, 1) if zeros else 8
    wf = (unpack4(qw, 0) - np.repeat(z, group, axis=0) if zeros else unpack4(qw, 0) - 8)
    wf = wf * np.repeat(s.astype(np.float64), group, axis=0)
    args = dict(a=a, qw=qw, s=s, c="empty:f16:%dx%d" % (m, n))
    if zeros:
        args["qz"] = qz
    return Case(args, dict(c=a.astype(np.float64) @ wf), ["G=32", "BM=16", "BN=16", "BK=32"], rtol=1e-2, atol=2e-2)


def e4m3(bits):
    bits = bits.astype(np.int64)
    sign, exponent, fraction = np.where(bits & 128, -1.0, 1.0), bits >> 3 & 15, bits & 7
    return sign * np.where(exponent == 0, fraction * 2.0**-9, (8 + fraction) * 2.0 ** (exponent - 10.0))


def random_e4m3(rng, shape):
    bits = rng.integers(0, 256, shape, dtype=np.uint8)
    return np.where(bits & 127 == 127, 0, bits).astype(np.uint8)


@case("13_fp8_block", "fp8_block", (32, 32, 256), (21, 40, 200))
def fp8_block(rng, size):
    m, n, k = size
    a, b = random_e4m3(rng, (m, k)), random_e4m3(rng, (n, k))
    sa = rng.random((cdiv(k, 128), m), dtype=np.float32).T
    sb = rng.random((cdiv(n, 128), cdiv(k, 128)), dtype=np.float32)
    wa = e4m3(a) * np.repeat(sa, 128, axis=1)[:, :k]
    wb = e4m3(b) * np.repeat(np.repeat(sb, 128, axis=1)[:, :k], 128, axis=0)[:n]
    args = dict(a=a, sa=sa, b=b, sb=sb, c="empty:bf16:%dx%d" % (m, n))
    return Case(args, dict(c=wa @ wb.T), ["BM=16", "BN=32"], rtol=1e-2, atol=1.0)


# --- 14: recurrences --------------------------------------------------------------------------------


@case("14_gated_delta", "gated_delta", (1, 32, 2, True, 16), (2, 40, 1, False, 16), (1, 70, 1, True, 64), (1, 24, 1, True, 8))
def gated_delta(rng, size):
    batch, s, h, state, chunk = size
    dk, dv = 16, 16
    q, k = (rng.standard_normal((batch, s, h, dk)) / 4 for _ in range(2))
    v = rng.standard_normal((batch, s, h, dv))
    q, k, v = (x.astype(np.float16) for x in (q, k, v))
    g = (-rng.random((batch, s, h)) * 0.1).astype(np.float32)
    beta = rng.random((batch, s, h)).astype(np.float32)
    h0 = rng.standard_normal((batch, h, dk, dv)).astype(np.float32)
    wq, wk, wv, wg, wbeta, st = wide(q, k, v, g, beta, h0)
    st = st * (1 if state else 0)
    o = np.zeros((batch, s, h, dv))
    for t in range(s):
        for b in range(batch):
            for i in range(h):
                x = st[b, i] * np.exp(wg[b, t, i])
                new = (wv[b, t, i] - wk[b, t, i] @ x) * wbeta[b, t, i]
                st[b, i] = x + np.outer(wk[b, t, i], new)
                o[b, t, i] = wq[b, t, i] @ st[b, i] * 0.5
    args = dict(q=q, k=k, v=v, g=g, beta=beta, o="empty:f16:%dx%dx%dx%d" % o.shape, scale=0.5)
    want = dict(o=o)
    if state:
        args.update(h0=h0, ht="empty:f32:%dx%dx%dx%d" % h0.shape)
        want["ht"] = st
    return Case(args, want, ["T=f16", "DK=16", "DV=16", "BV=16", "C=%d" % chunk], rtol=2e-2, atol=2e-2)


@case("14_gated_delta", "selective_scan", (1, 32, 32), (2, 21, 40))
def selective_scan(rng, size):
    batch, s, di = size
    n = 8
    x = rng.standard_normal((batch, s, di), dtype=np.float32)
    dt = rng.random((batch, s, di), dtype=np.float32)
    a = -rng.random((di, n), dtype=np.float32)
    bm, cm = (rng.standard_normal((batch, s, n), dtype=np.float32) for _ in range(2))
    wx, wdt, wa, wb, wc = wide(x, dt, a, bm, cm)
    y = np.zeros((batch, s, di))
    for b in range(batch):
        h = np.zeros((di, n))
        for t in range(s):
            h = np.exp(wdt[b, t][:, None] * wa) * h + (wdt[b, t] * wx[b, t])[:, None] * wb[b, t]
            y[b, t] = h @ wc[b, t]
    args = dict(x=x, dt=dt, A=a, Bm=bm, Cm=cm, y="empty:f32:%dx%dx%d" % size)
    return Case(args, dict(y=y), ["N=8", "BS=16", "BD=16"], rtol=1e-3, atol=1e-3)


# --- 15 to 20 ---------------------------------------------------------------------------------------


@case("15_topk_gating", "gating", (32, True), (45, False))
def gating(rng, size):
    tokens, bias = size
    experts, k = 16, 4
    x = rng.standard_normal((tokens, experts), dtype=np.float32)
    b = rng.random(experts, dtype=np.float32)
    p = softmax(x.astype(np.float64), 1)
    key = p + b if bias else p
    ids = np.argsort(-key, axis=1, kind="stable")[:, :k]
    w = np.take_along_axis(p, ids, axis=1)
    args = dict(x=x, w="empty:f32:%dx%d" % (tokens, k), id="empty:i32:%dx%d" % (tokens, k))
    if bias:
        args["bias"] = b
    return Case(args, dict(w=w / w.sum(axis=1)[:, None], id=ids), ["E=16", "K=4"], rtol=1e-4, atol=1e-6)


@case("16_stream_k", "stream_k", (64, 64, 96), (50, 70, 100))
def stream_k(rng, size):
    m, n, k = size
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    wa, wb = wide(a, b)
    return Case(dict(a=a, b=b, c="empty:f16:%dx%d" % (m, n)), dict(c=wa @ wb), ["BM=16", "BN=32", "BK=16"],
                rtol=5e-3, atol=5e-3)


@case("17_conv2d", "conv2d", (2, 8, 8, 16, 32, 3, 1, 1), (1, 7, 5, 10, 20, 3, 2, 1))
def conv2d(rng, size):
    n, h, w, c, ko, r, stride, pad = size
    x = rng.standard_normal((n, h, w, c)).astype(np.float16)
    f = rng.standard_normal((ko, r, r, c)).astype(np.float16)
    bias = rng.standard_normal(ko).astype(np.float16)
    p, q = (h + 2 * pad - r) // stride + 1, (w + 2 * pad - r) // stride + 1
    wx, wf, wbias = wide(x, f, bias)
    padded = np.pad(wx, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    y = np.zeros((n, p, q, ko))
    for i in range(p):
        for j in range(q):
            window = padded[:, i * stride : i * stride + r, j * stride : j * stride + r]
            y[:, i, j] = np.einsum("nrsc,krsc->nk", window, wf) + wbias
    args = dict(x=x, w=f, bias=bias, y="empty:f16:%dx%dx%dx%d" % y.shape, stride=stride, pad=pad)
    return Case(args, dict(y=y), ["BM=16", "BN=16", "BK=16"], rtol=5e-3, atol=1e-2)


@case("18_kv_append", "kv_append", 16, 13)
def kv_append(rng, n):
    hk, d, page, pages = 2, 32, 8, 4
    k = rng.standard_normal((n, hk, d)).astype(np.float16)
    slot = rng.permutation(page * pages)[:n].astype(np.int64)
    slot[3] = -1
    kc = np.zeros((pages, page, hk, d))
    ks = np.zeros((pages, page, hk))
    for i in range(n):
        if slot[i] >= 0:
            scale = np.maximum(np.abs(k[i].astype(np.float64)).max(axis=1) / 448, 1e-12)
            kc[slot[i] // page, slot[i] % page] = k[i]
            ks[slot[i] // page, slot[i] % page] = scale
    args = dict(k=k, slot=slot, kc="zeros:f8e4m3fn:%dx%dx%dx%d" % kc.shape, ks="zeros:f32:%dx%dx%d" % ks.shape)
    decode = lambda out: dict(out, kc=e4m3(out["kc"].view(np.uint8)) * out["ks"].astype(np.float64)[..., None])
    result = Case(args, dict(kc=kc, ks=ks), ["D=32", "PAGE=8"], rtol=0.07, atol=1e-3)
    result.decode = decode
    return result


@case("19_sample", "gumbel", (4, 1024), (3, 700))
def gumbel(rng, size):
    rows, vocabulary = size
    x = rng.standard_normal(size, dtype=np.float32)
    seed = rng.integers(0, 2**40, rows)
    step, block = 5, 256
    tokens = []
    for r in range(rows):
        words = philox(int(seed[r]), step * vocabulary + np.arange(vocabulary))
        u = ((words >> 9).astype(np.float64) + 0.5) * 2.0**-23
        tokens.append(np.argmax(x[r].astype(np.float64) / np.float32(0.8) - np.log(-np.log(u))))
    args = dict(x=x, seed=seed, step=np.array(step), tok="empty:i64:%d" % rows, temp=0.8)
    return Case(args, dict(tok=np.array(tokens)), ["BLOCK=%d" % block], rtol=0, atol=0)


@case("20_strides", "gemm_any", (32, 32, 32, True), (40, 50, 33, False))
def gemm_any(rng, size):
    m, n, k, res = size
    a = rng.standard_normal((k, m)).astype(np.float16).T
    b = rng.standard_normal((n, k)).astype(np.float16).T
    r = rng.standard_normal((m, n)).astype(np.float16)
    wa, wb, wr = wide(a, b, r)
    args = dict(a=a, b=b, c="empty:f16:%dx%d" % (m, n))
    if res:
        args["res"] = r
    return Case(args, dict(c=wa @ wb + (wr if res else 0)), ["BM=16", "BN=32", "BK=16"], rtol=5e-3, atol=5e-3)


if __name__ == "__main__":
    main()
