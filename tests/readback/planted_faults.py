"""Faults of emitted texts that reading back must find: what stands there, what then, and words of the message."""

# ruff: noqa: E501
# fmt: off

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from emitted_texts import FIRST, ITERATION

from recipe_compiler.emit.module import Module

Rows = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Planted:
    """Faults of the texts of one build.

    Args:
        build: its name in `emitted_texts`.
        shapes: the texts that have each of the faults.
        faults: by name.
        after: the function from which on a fault has its place.
        part: of the reading that is asked alone.
        each: of three times so many faults one is planted by default; 0: of none.
    """

    build: str
    shapes: tuple[str, ...]
    faults: Rows
    after: str = ""
    part: str | Callable[[Module, Mapping[str, int]], None] = ""
    each: int = 1


def in_scalars(rows: Rows) -> Rows:
    """Return faults of loops in the text of scalars: entry 1 where a row does not say what stands there."""
    return {fault: (*(row[3:] or map(_scalar, row[:2])), row[2]) for fault, row in rows.items()}


def _scalar(text: str) -> str:
    return re.sub(r"\[([i\d])\]", lambda entry: f"_{entry[1].replace('i', '1')}", text).strip(" ")


def of_chunks(noisy: str, at: str) -> Rows:
    """Return faults of steps in chunks, of one block with noise and one place of the gradient."""
    return {
        fault: tuple(part.replace("{r}", noisy).replace("{at}", at) for part in row) for fault, row in CHUNKS.items()
    }


CHUNKS = {
    "the first entry left out": ("range(0, theta", "range(1, theta"),
    "chunks that overlap": ("theta.shape[0], noise_{r}.shape[0]):", "theta.shape[0], 1):"),
    "old noise in every chunk but the first": ("        _fill_normals_lanes(noise_state, noise_{r}[:last - first])", "        if first < 0.0:\n            first = 0.0"),
    "noise of one entry for all": ("noise_{r}_i = noise_{r}[i]", "noise_{r}_i = noise_{r}[0]"),
    "an entry too far": ("    theta_i = theta[i]", "    theta_i = theta[entries - 1 - i]"),
    "a parameter of another entry within a chunk": ("mu_i = mu[i]", "mu_i = mu[0]"),
}
LANES = {
    "a lane left out": ("range(np.uint64(64))", "range(np.uint64(63))"),
    "the state of another lane": ("theta_0 = lanes[lane]", "theta_0 = lanes[np.uint64(63) - lane]"),
    "an entry not stored": ("        lanes[np.uint64(64) + lane] = theta_1\n", ""),
    "stored in another place": ("lanes[np.uint64(64) + lane] = theta_1", "lanes[np.uint64(128) + lane] = theta_1"),
    "one normal for all lanes": ("_0 = lanes_noise[lane]", "_0 = lanes_noise[np.uint64(0)]"),
}
LANES_OF_MOVES = {
    "U not kept": ("lanes[np.uint64(576) + lane] = U_0", "lanes[np.uint64(576) + lane] += U_0"),
    "the gradient of another lane": ("grad_U_0 = lanes[np.uint64(384) + lane]", "grad_U_0 = lanes[np.uint64(447) - lane]"),
    "acceptance of the last step alone": ("lanes_told[lane] += acceptance_0", "lanes_told[lane] = acceptance_0"),
}
"""What moves carry on and add up."""
DRAWS_OF_LANES = {
    "no noise at the first step of a draw": ("if turn % 2 == 0:", "if turn % 4 == 1:", "N "),
    "old noise in every other pair of steps": ("if turn % 2 == 0:", "if turn % 4 == 0:", "N "),
    "more noise than there are steps": ("min(2, thin - turn)", "min(2, thin)", "N "),
    "noise of the step before": (" * (turn % 2):]", " * (turn % 1):]", "the lanes_noise that step_lanes is given"),
    "noise of another stream": ("_fill_normals_lanes(noise_state,", "_fill_normals_lanes(lanes,", "a state other than the given one"),
    "counts that are not begun": ("    kept[:] = 0\n", "    lanes[:] = 0\n", "an unset value: kept[lane]"),
    "an entry that may be infinite": ("finite &= abs(lanes[np.uint64(64) + lane])", "finite &= abs(lanes[lane])", "while they are finite"),
    "the entry of another lane": ("finite &= abs(lanes[lane])", "finite &= abs(lanes[np.uint64(63) - lane])", "while they are finite"),
    "draws counted after one that is not finite": ("finite = kept[lane] == draw", "finite = kept[lane] <= draw", "while they are finite"),
    "lanes kept in another order": ("lanes_draws[draw, entry] = lanes[entry]", "lanes_draws[draw, entry] = lanes[64 - entry if entry < 64 else entry]", ""),
    "every draw in the first row": ("lanes_draws[draw, entry] = ", "lanes_draws[0, entry] = ", "a draw of lanes"),
    "a step too few": ("in range(thin)", "in range(thin - 1)", "N "),
}
REPORTS_OF_LANES = {
    "a report that goes on": ("            lanes_told[lane] = 0.0\n", "", "a draw of lanes"),
    "a report that is not begun": ("    lanes_told[:] = 0.0\n", "", "gives step_lanes what is not set"),
    "a sum for a mean": ("= lanes_told[lane] / thin", "= lanes_told[lane]", "a draw of lanes"),
}
SEEDS = {
    "the first chain's for all": ("chains, 0, 4, first_chain", "chains, 0, 4, 0", "that _seed_words is given"),
    "one stream for both": ("seed, chains, 1, 4", "seed, chains, 0, 4", "that _seed_words is given"),
    "streams exchanged": ("chains, 0, 4, first_chain), _seed_words(seed, chains, 1", "chains, 1, 4, first_chain), _seed_words(seed, chains, 0", "that _seed_words is given"),
    "a word too few": ("seed, chains, 0, 4", "seed, chains, 0, 3", "that _seed_words is given"),
    "chains for the seed": ("_seed_words(seed, chains, 0", "_seed_words(chains, seed, 0", "that _seed_words is given"),
    "a noise that is none of the seeds": ("return (_seed_words(seed, chains, 0, 4, first_chain), ", "return (seed, ", "takes _seed_words 1 times"),
    "seeds by how many chains there are": ("np.random.SeedSequence(seed,", "np.random.SeedSequence(seed + chains,", "another _seed_words than the package"),
    "support code in other words": ("first_chain + chain, stream)", "first_chain + chain, 0)", "another _seed_words than the package"),
}
ARGUMENTS = {
    "arguments of a step in another order": ("def step(theta_0, theta_1,", "def step(theta_1, theta_0,", "the arguments of step in another order"),
    "arguments of a gradient in another order": ("def gradient(theta_0, theta_1,", "def gradient(theta_1, theta_0,", "the arguments of gradient in another order"),
    "arguments of the gradient of all data in another order": ("def full_gradient(theta, mu, inv_Sigma)", "def full_gradient(theta, inv_Sigma, mu)", "the arguments of full_gradient in another order"),
    "arguments of `run` that are not its own": ("\nARGUMENTS = ('theta', 'r'", "\nARGUMENTS = ('r', 'theta'", "in ARGUMENTS than"),
    "arguments of `run_lanes` that are not its own": ("\nLANES_ARGUMENTS = ('lanes', 'mu', 'inv_Sigma'", "\nLANES_ARGUMENTS = ('lanes', 'inv_Sigma', 'mu'", "in LANES_ARGUMENTS than"),
    "blocks under other names": ("\nBLOCKS = (('theta', 3), ('r', 3))", "\nBLOCKS = (('r', 3), ('theta', 3))", "in BLOCKS than"),
    "constants under other names": ("\nCONSTANTS = ('inv_Sigma', 'step_factor'", "\nCONSTANTS = ('step_factor', 'inv_Sigma'", "in CONSTANTS than"),
}
BESIDE = "what stands beside"
MOVES: dict[str, dict[str, tuple[str, ...]]] = {
    "ghmc": {
        "no flip on refusal": ("else -r_drawn[i]", "else r_drawn[i]", "what is left of r"),
        "a flip of the position": ("theta_at[i] if accept else theta[i]", "theta_at[i] if accept else -theta[i]", "what is left of theta"),
        "the kinetic energy of the old momentum": ("rest_start = rest(r_drawn, ", "rest_start = rest(r, ", "the r that rest is given", "rest_start = rest(r_drawn_0, ", "rest_start = rest(r_0, "),
        "more is kept": ("0.9 * r[i]", "0.99 * r[i]", "the mean of r_drawn"),
        "as much is drawn as if nothing were kept": ("0.19 * M[i, j]", "M[i, j]", "the covariance of r"),
        "a start at the old momentum": ("r_at[i] = r_drawn[i]", "r_at[i] = r[i]", "the r that step is given"),
    },
    "hmc": {
        "no kick before the first step": ("r_at[i] = r_at[i] + eps * (-grad_U_at[i] / 2.0)", "r_at[i] = r_at[i]", "the r that step is given"),
        "a kick that is not taken back": ("r_at[i] = r_at[i] - eps * (-grad_U_at[i] / 2.0)", "r_at[i] = r_at[i]", "the r that rest is given"),
        "refused where it is to be accepted": ("theta_at[i] if accept else theta[i]", "theta[i] if accept else theta_at[i]", "what is left of theta"),
        "the gradient of the end after refusal": ("grad_U_at[i] if accept else grad_U[i]", "grad_U_at[i]", "what is left of grad_U"),
        "the sign of the ratio": ("= U[0] - U_at + rest_start - rest_at", "= U_at - U[0] + rest_at - rest_start", "the log acceptance ratio that a decision is given"),
        "U at the start": ("U_at = potential(theta_at, ", "U_at = potential(theta, ", "the theta that potential is given", "U_at = potential(theta_at_0, ", "U_at = potential(theta_0, "),
        "another matrix in the kinetic energy": ("rest_at = rest(r_at, inv_M", "rest_at = rest(r_at, inv_Sigma", "another inv_M than its own", "rest_at = rest(r_at_0, r_at_1, r_at_2, inv_M", "rest_at = rest(r_at_0, r_at_1, r_at_2, inv_Sigma"),
        "one normal decides twice": ("noise_accept[0], noise_accept[1]", "noise_accept[0], noise_accept[0]", "other than two normals of its own", "(log_ratio, noise_accept_0, noise_accept_1)", "(log_ratio, noise_accept_0, noise_accept_0)"),
        "half of a refresh": ("r_drawn[i] = L_r_noise_r[i]", "r_drawn[i] = L_r_noise_r[i] / 2.0", "the covariance of r"),
        "a factor turned": ("L_r[i, j] * noise_r[j]", "L_r[j, i] * noise_r[j]", "a factor of its noise", "L_r[1, 0] * noise_r_0", "L_r[0, 1] * noise_r_0"),
        "a start that is not begun": ("    for i in range(d):\n        theta_at[i] = theta[i]\n", "", "the theta that step is given", "theta_at_0 = theta_0", "theta_at_0 = theta_1"),
        "a position that stays": ("            theta_at[i] = theta_new[i]", "            theta_at[i] = theta[i]", "the theta that step is given"),
        "a step too few": ("range(10)", "range(9)", "takes step 9 times, expected 10"),
        "a step too many": ("range(10)", "range(11)", "takes step 11 times, expected 10"),
        "kinetic energy without a half": ("energy = r_inv_M_r_2 / 2.0", "energy = r_inv_M_r_2", "H - U", "energy = r_inv_M_r / 2.0", "energy = r_inv_M_r"),
        "U without a half": ("U_value = difference_inv_Sigma_difference_2 / 2.0", "U_value = difference_inv_Sigma_difference_2", "in U"),
    },
    "hmc_of_some_steps": {
        "the noise of the length decides": ("log_ratio, noise_accept[0], noise_accept[1]", "log_ratio, noise_length[0], noise_length[1]", "uses normals twice: noise_length, noise_length, noise_r", "(log_ratio, noise_accept_0, noise_accept_1)", "(log_ratio, noise_length_0, noise_length_1)"),
        "a length from 0 on": ("_uniform_integer(1, 20,", "_uniform_integer(0, 20,", "the bounds that a length is given"),
        "a length that is not the one drawn": ("range(length)", "range(20)", "takes step 20 times, expected 2"),
        "the length by the noise of the refresh": ("1, 20, noise_length[0], noise_length[1]", "1, 20, noise_r[0], noise_length[1]", "other than two normals of its own", "1, 20, noise_length_0, noise_length_1", "1, 20, noise_r_0, noise_r_1"),
    },
    "hmc_up_to_a_length": {
        "twice as long": ("_uniform_up_to(longest,", "_uniform_up_to(2.0 * longest,", "the bounds that a length is given"),
        "a length that is not the one drawn": ("range(length)", "range(20)", "takes step 20 times, expected 2"),
    },
    "between": {
        "less is drawn the second time": ("r_next_drawn[i] = r_next[i] / 3.0", "r_next_drawn[i] = r_next[i] / 4.0", "the mean of r_next_drawn"),
    },
    "steps": {
        "the end of nothing": ("r_next[i] = r_at[i]", "r_next[i] = r[i]", "the mean of r_next_drawn"),
    },
    "every": {
        "a move that is due at other times": ("_is_due(cycles[0], 3)", "_is_due(cycles[0], 2)", "r"),
        "moves at each other's times": ("due_3 = _is_due(cycles[0], 3)", "due_3 = _is_due(cycles[0], 3) if 1.0 == 2.0 else _is_due(cycles[0], 2)", "r", "if due_3:", "if due_2:"),
        "the count of another cycle": ("_is_due(cycles[0], 2)", "_is_due(U[0], 2)", "uses a wrong counter"),
        "cycles that are not counted": ("cycles_next[0] = cycles[0] + 1.0", "cycles_next[0] = cycles[0]", "what is left of cycles"),
        "another sign where a move is not due": ("    r_next_drawn[i] = r_next[i]", "    r_next_drawn[i] = -r_next[i]", "what is left of r"),
    },
    "every_word": {
        "a word that is due at other times": ("_is_due(cycles[0], 3)", "_is_due(cycles[0], 6)", "a move every 6 cycles, which no move"),
        "another end where no word is due": ("        theta_next[i] = theta[i]", "        theta_next[i] = -theta[i]", "what is left of theta", "        theta_next_1 = theta_1\n", "        theta_next_1 = theta_0\n"),
        "another U where no word is due": ("        U_next[0] = U[0]", "        U_next[0] = 2.0 * U[0]", "what is left of U"),
        "an acceptance of no move": ("        acceptance[0] = 0.0", "        acceptance[0] = 1.0", "the reported acceptance"),
        "a move that is not counted": ("        tried[0] = 1.0", "        tried[0] = 0.0", "the reported tried"),
        "a count of no move": ("        tried[0] = 0.0", "        tried[0] = 1.0", "the reported tried"),
    },
    "every_steps": {
        "steps that are due at other times": ("_is_due(cycles[0], 2)", "_is_due(cycles[0], 4)", "a move every 4 cycles, which no"),
    },
}
"""Cycles of a Gaussian: a fault in loops and, where that is another in scalars, in these."""

PLANTED = (
    *(Planted(f"{cycle} of gaussian", ("scheduled",), rows, each=3) for cycle, rows in MOVES.items()),
    *(Planted(f"{cycle} of gaussian", ("shipped",), in_scalars(rows), each=3) for cycle, rows in MOVES.items()),
    Planted("chunked sgld", ("scheduled", "scheduled at a point"), of_chunks("theta", "theta_i")),
    Planted("chunked sghmc", ("scheduled", "scheduled at a point"), of_chunks("r", "theta_new_i")),
    *(
        Planted(build, ("shipped",), LANES, after="step_lanes", part="the lanes", each=3)
        for build in ("sghmc_gaussian", "sgld_gaussian", "sgnht_gaussian", "sghmc_gaussian_baoab")
    ),
    *(
        Planted(f"{cycle} of gaussian", ("shipped",), LANES | LANES_OF_MOVES, after="step_lanes", part="the lanes", each=3)
        for cycle in ("hmc", "again_every")
    ),
    Planted("sgnht_gaussian", ("shipped",), DRAWS_OF_LANES, after="run_lanes", part="the lanes", each=2),
    Planted("hmc of gaussian", ("shipped",), DRAWS_OF_LANES | REPORTS_OF_LANES, after="run_lanes", part="the lanes", each=2),
    Planted("sgnht_gaussian", ("shipped",), SEEDS, after="seed_streams", each=2),
    Planted("hmc of gaussian", ("shipped",), ARGUMENTS, part=BESIDE, each=2),
    Planted("gibbs_normal", ("shipped",), {
        "a draw kept that is not finite": ("return kept", "return kept + 1", "the number of draws"),
        "a chain that goes on where it is not finite": ("return kept", "kept += 0", "expected 2"),
    }, after="run", part=ITERATION, each=2),
    Planted("hmc of gaussian", ("shipped",), {
        "a draw kept that is not finite": ("done = kept", "done = kept + 1", "the number of draws"),
        "a chain that goes on where it is not finite": ("            break\n", "", "expected 10"),
    }, after="run", part=ITERATION, each=2),
    Planted("hmc of gaussian", ("shipped",), {
        "a modulus": ("theta_new_0 = theta_0 + ", "theta_new_0 = abs(theta_0) + ", "without its noise"),
        "a gradient of the modulus": ("mu[0] - theta_0\n", "mu[0] - abs(theta_0)\n", "the gradient"),
    }, each=1),
    Planted("garch", ("plain",), {
        "what a row leaves to the row after it": ("adjoint_s2[row] * w[1] + 1.0", "adjoint_s2[row] + 1.0", "the gradient"),
        "a sum over the rows ahead": ("adjoint_s2[row] = slope_s2\n", "adjoint_s2[row] = 0.0\n", "the gradient"),
        "two slopes exchanged": ("grad_U_simplex_w[0] = w[0] * (grad_U_w[0]", "grad_U_simplex_w[1] = w[0] * (grad_U_w[0]", "does not set the gradient"),
        "a slope of another share": ("w[2] * (grad_U_w[2] -", "w[2] * (grad_U_w[1] -", "the gradient"),
        "a Jacobian left out": ("- 1.0 + (simplex_w[0]", "+ (simplex_w[0]", "the gradient"),
    }, each=1),
    Planted("five", ("plain",), {
        "a modulus": ("= theta[i] + step_factor_2", "= abs(theta[i]) + step_factor_2", "in theta_v1[0], without its noise"),
        "a gradient of the modulus": ("* theta[j]", "* abs(theta[j])", "the gradient"),
    }, each=1),
    Planted("hmc_first", ("shipped",), {
        "a block of the state to work in": ("noise_state, x_beta_3)\n\ndef prepare", "noise_state, r_next)\n\ndef prepare", "does not set what is left of r"),
    }, each=2),
    Planted("sghmc_logistic", ("plain", "plain at a point"), {
        "eps * (grad_U_tilde[i]": ("eps * (-grad_U_tilde[i]", "eps * (grad_U_tilde[i]"),
        "eps * scale_r * noise_r[i]": ("scale_r * noise_r[i]", "eps * scale_r * noise_r[i]"),
        "_softplus(x_theta[b])": ("_sigmoid(x_theta[b])", "_softplus(x_theta[b])"),
        "a state that is written to": ("theta_new[i] = theta[i] + eps * r_new[i]", "theta_new[i] = theta[i] + eps * r_new[i]\n        theta[i] = theta_new[i]", "changes theta in step"),
        "n/N for N/n": ("N * grad_U_tilde[i] / batch_size", "batch_size * grad_U_tilde[i] / N"),
        "sqrt(D) for sqrt(2D)": ("_noise_scale(2.0 * c,", "_noise_scale(c,"),
        "another column of the weighted sum": ("+= weight * x[row, i]", "+= weight * x[row, 0]"),
        "a sum over the data that is lost": ("+= weight * x[row, i]", "+= 0.0"),
    }),
    Planted("sghmc_gaussian", ("plain", "plain at a point"), {
        "C[j, i] * inv_M_r[i]": ("C[i, j] * inv_M_r[j]", "C[j, i] * inv_M_r[i]"),
        "C[i, j]": ("2.0 * C[i, j]", "C[i, j]"),
        "L_r[j, i] * noise_r[j]": ("L_r[i, j] * noise_r[j]", "L_r[j, i] * noise_r[j]"),
    }),
    Planted("sgnht_gaussian", ("plain", "plain at a point"), {
        "- 0.5)": ("- 1.0)", "- 0.5)"),
    }),
    Planted("generalised_langevin_gaussian", ("plain", "plain at a point"), {
        "Lambda[i, j]": ("Lambda[j, i]", "Lambda[i, j]"),
    }),
    Planted("sghmc_logistic", ("plain",), {
        "eps * np.sum(r_new)": ("eps * r_new[i]", "eps * np.sum(r_new)"),
        "eps * r_new[i] if i > 0 else 0.0": ("eps * r_new[i]", "eps * r_new[i] if i > 0 else 0.0"),
        "eps * r_new[-1]": ("eps * r_new[i]", "eps * r_new[-1]"),
    }),
    Planted("chunked sghmc", ("scheduled",), {
        "a gradient at the old state": ("= gradient(theta_new_i, mu_i, k)", "= gradient(theta_i, mu_i, k)", "the gradient"),
    }),
    Planted("rats", ("plain",), {
        "inv_M[i, i] * r_v1[j]": ("inv_M[i, j] * r_v1[j]", "inv_M[i, i] * r_v1[j]"),
        "C[i, k] * M[j, k]": ("C[i, k] * inv_M[j, k]", "C[i, k] * M[j, k]"),
        "C[i, j]": ("2.0 * C[i, j]", "C[i, j]"),
    }),
    Planted("squares in singles by a mode", ("scheduled",), {
        "- grad_U_mode[i]": ("theta[i] + grad_U_mode[i]", "theta[i] - grad_U_mode[i]"),
        "np.float64(y[0])": ("np.float64(y[row])", "np.float64(y[0])"),
    }),
    Planted("a factor of two", ("plain",), {
        "transposed": ("draw_theta[0] = L_theta_00 * noise_theta[0]", "draw_theta[0] = L_theta_00 * noise_theta[0] + L_theta_10 * noise_theta[1]"),
        "entry by entry": ("draw_theta[1] = L_theta_10 * noise_theta[0] + L_theta_11 * noise_theta[1]", "draw_theta[1] = L_theta_11 * noise_theta[1]"),
        "of the wrong matrix": ("covariance_theta_10 = eps", "covariance_theta_10 = 2.0 * eps"),
    }),
    Planted("a factor of many", ("plain",), {
        "transposed": ("total += L_theta[i, j] * noise_theta[j]", "total += L_theta[j, i] * noise_theta[j]"),
        "of the wrong matrix": ("_noise_root(covariance_theta, L_theta", "_noise_root(A, L_theta"),
        "never factored": ("    _noise_root(covariance_theta, L_theta, clipped)\n", ""),
    }),
    Planted("a diagonal and a column", ("plain",), {
        "root of the scale": ("= math.sqrt(", "= ("),
    }),
    Planted("a number times a matrix", ("plain",), {
        "twice the scale": ("scale_theta = math.sqrt(", "scale_theta = 2.0 * math.sqrt("),
    }),
    Planted("a matrix between", ("plain",), {
        "transposed": ("L_theta[i, j]", "L_theta[j, i]"),
    }),
    Planted("gibbs_regression", ("scheduled", "shipped"), {
        "another shape": ("shape_tau = N / 2.0 + shape", "shape_tau = N + shape", "the parameters that Gamma for tau is given"),
        "a shape off by a half": ("N / 2.0 + shape", "N / 2.0 + shape + 0.5", "the parameters that Gamma for tau is given"),
        "a lost half in the rate": ("rate + difference_difference / 2.0", "rate + difference_difference", "entry 2 of theta once tau is drawn"),
        "an exponential for a gamma": ("_next_log_gamma(shape_tau, ", "_next_uniform(", "takes Gamma for tau 0 times, expected 1"),
        "words that were taken": ("log_G_tau, s0, s1, s2, s3 = _next", "log_G_tau, t0, t1, t2, t3 = _next", "the last words of its stream"),
        "words in another order": ("(shape_tau, s0, s1, s2, s3)", "(shape_tau, s1, s0, s2, s3)", "not the last of the stream"),
        "a block overwritten": ("log_tau_drawn = theta_tau[2:3]", "log_tau_drawn = theta_tau[1:2]", "entry 1 of theta once tau is drawn"),
        "another part of the block": ("beta_drawn = theta_beta[0:2]", "beta_drawn = theta_beta[1:3]", "entry 0 of theta once beta is drawn"),
        "no exp of log tau": ("_exp(log_tau[0])", "(log_tau[0])", "the vector that _normal_by_precision for beta is given"),
        "a precision without the prior": ("exp_of_state * x_x[i, j] + inv_S[i, j]", "exp_of_state * x_x[i, j]", "the matrix that _normal_by_precision for beta is given"),
        "a transposed sum": ("total += x[k, i] * x[k, j]", "total += x[k, i] * x[k, i]", "the matrix that _normal_by_precision for beta is given"),
        "a matrix for its inverse": ("inv_S = np.linalg.inv(S)", "inv_S = S + 0.0", "the vector that _normal_by_precision for beta is given"),
        "a covariance for a precision": ("    _normal_by_precision(u_beta", "    _normal_by_covariance(u_beta", ""),
        "the old beta": ("    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)", "    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)\n    beta_drawn[0] = beta[0]", "entry 0 of theta once beta is drawn"),
        "drawn twice": ("    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)", "    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)\n    _normal_by_precision(u_beta, P_beta, noise_beta, beta_drawn)", "2 times"),
        "L for L^-T": ("out[i] += -P[j, i] * out[j]", "out[i] += -P[i, j] * out[j]", "an unset value: P[i, j]"),
        "a solve that is left out": ("out[i] = out[i] / P[i, i]\n    for i in range(size):\n        out[i] += noise[i]", "out[i] = out[i]\n    for i in range(size):\n        out[i] += noise[i]", "does not draw from the given distribution"),
        "sums in each other's place": ("    draw_beta(theta_beta, theta, inv_S, inv_S_m, x, x_y, x_x, ", "    draw_beta(theta_beta, theta, inv_S, inv_S_m, x, inv_S_m, x_x, ", "another x_y than its own"),
        "a stale beta": ("draw_tau(theta_tau, theta_beta, ", "draw_tau(theta_tau, theta, ", "the theta that draw 2 is given"),
        "another stream": ("shape, rate, x, y, noise_state, x_beta_2)\n\ndef prepare", "shape, rate, x, y, noise_state + noise_state, x_beta_2)\n\ndef prepare", "gives draw 2 another noise_state than its own"),
    }, each=6),
    Planted("gibbs_normal", ("scheduled", "shipped"), {
        "a normal used twice": ("* noise_mu[0]", "* noise_mu[0] + noise_mu[0]", "entry 0 of theta once mu is drawn"),
    }, each=6),
    Planted("families", ("scheduled", "shipped"), {
        "a gamma draw by the shape of another entry": ("shape_g = a[i]", "shape_g = a[1]", "the parameters that Gamma for g is given"),
        "a mean for a rate": ("math.log(E_e) - math.log(rate_e)", "math.log(E_e) + math.log(rate_e)", "entry 3 of theta once e is drawn"),
        "a variate that is not drawn anew": ("log_F_b, s0, s1, s2, s3 = _next_log_gamma(b_b, s0, s1, s2, s3)", "log_F_b = log_G_b", "takes Gamma for b 1 times, expected 2"),
        "another row of the covariance": ("cov_n[i, j] = C[i, j]", "cov_n[i, j] = C[i, i]", "the matrix that _normal_by_covariance for n is given"),
    }, each=6),
    Planted("cir", ("scheduled", "shipped"), {
        "no decay of what was": ("factor_g = _exp(-rate_g * eps) / scale_g", "factor_g = 1.0 / scale_g", "the parameters that Gamma of count for g is given"),
        "no scale": ("log_G_g + math.log(scale_g)", "log_G_g", "entry 1 of theta once g is drawn"),
        "a count that is lost": ("_next_log_gamma_of_count(shape_g, mean_g, s0", "_next_log_gamma(shape_g, s0", "takes Gamma of count for g 0 times, expected 3"),
        "a rate of the block before the draw": ("flow_g(theta_g, theta_s, ", "flow_g(theta_g, theta, ", "the theta that draw 2 is given"),
    }, each=6),
    Planted("cir_of_a_scalar", ("scheduled", "shipped"), {
        "half of the count": ("mean_tau = _exp(log_tau[0]) * factor_tau", "mean_tau = _exp(log_tau[0]) * factor_tau / 2.0", "the parameters that Gamma of count for tau is given"),
    }, each=6),
    Planted("cir_minibatch", ("scheduled", "shipped"), {
        "a batch for all data": ("N * shape_g[i] / batch_size", "shape_g[i]", "the parameters that Gamma of count for g is given"),
        "another minibatch": ("    flow_g(theta_g, theta, a, z, batch, ", "    flow_g(theta_g, theta, a, z, batch[0:1], ", "passes draw 1 another array than batch, which has the shape (2,)"),
    }, each=6),
    Planted("gibbs_regression", ("shipped",), {
        "sums of other data": ("    sums(x_y, x_x, x, y)", "    sums(x_y, x_x, x, x)", "passes sums another array than y, which has the shape (3,)"),
        "sums that are not made": ("    sums(x_y, x_x, x, y)\n", "", "gives cycle another x_y than its own"),
    }, each=6),
    Planted("hmc_between", ("scheduled", "shipped"), {
        "moves in another order": ("draw_tau(theta_tau, theta_next, ", "draw_tau(theta_tau, theta_beta, ", "the theta that draw 2 is given"),
        "the noise of another draw": ("x, x_y, x_x, noise_beta, u_beta, P_beta)\n    for", "x, x_y, x_x, noise_r, u_beta, P_beta)\n    for", "passes draw 1 another array than noise_beta, which has the shape (2,)"),
        "the gradient before the draw": ("gradient(grad_U_start, theta_beta, ", "gradient(grad_U_start, theta, ", "the theta that gradient is given"),
        "U before the draw": ("U_at = potential(theta_beta, ", "U_at = potential(theta, ", "the theta that potential is given"),
        "U of the end where it starts": ("U_start[0] = U_at", "U_start[0] = 0.0", "the log acceptance ratio that a decision is given"),
        "a refusal to the state before the draw": ("theta_at[i] if accept else theta_beta[i]", "theta_at[i] if accept else theta[i]", "the theta that draw 2 is given"),
        "a trajectory from before the draw": ("theta_at[i] = theta_beta[i]", "theta_at[i] = theta[i]", "the theta that step is given"),
    }, each=6),
    Planted("hmc_first", ("scheduled", "shipped"), {
        "a gradient that is not evaluated": ("    gradient(grad_U_start, theta, ", "    gradient(grad_U_new, theta, ", ""),
    }, each=6),
    Planted("twice", ("scheduled", "shipped"), {
        "a draw before the last": ("draw_tau_2(theta_tau_, theta_beta, ", "draw_tau_2(theta_tau_, theta_tau, ", "the theta that draw 3 is given"),
    }, each=6),
    Planted("every", ("scheduled", "shipped"), {
        "a draw that is always done": ("due_3 = _is_due(cycles[0], 3)", "due_3 = _is_due(cycles[0], 1)", "which no move of it asks for"),
        "a draw where it is not due": ("    else:\n        for i in range(3):\n            theta_beta[i] = theta[i]", "    else:\n        draw_tau(theta_beta, theta, shape, rate, x, y, noise_state, x_beta_3)", ""),
        "another block where a draw is not due": ("    else:\n        for i in range(3):\n            theta_beta[i] = theta[i]", "    else:\n        for i in range(3):\n            theta_beta[i] = theta[0]", "the theta that gradient is given"),
    }, each=6),
    Planted("mixture", ("scheduled", "shipped"), {
        "logits without the weights": ("log_theta[j] - (y[i] - mu[j]) ** 2", "-(y[i] - mu[j]) ** 2", "the logits that a place by logits for z is given"),
        "a row of another datum": ("z_drawn[i, j] = ", "z_drawn[0, j] = ", ""),
        "one place for all rows": ("        k_z, s0, s1, s2, s3 = _next", "        k_z, t0, t1, t2, t3 = _next", ""),
        "sums for logits": ("_next_categorical(logits_z, sums_z, ", "_next_categorical(sums_z, logits_z, ", "does not set the logits that a place by logits for z is given"),
        "the old allocations": ("else 0.0) + 0.0 * k_z", "else 0.0) + z[i, j]", "of theta once z is drawn"),
    }, each=6),
    Planted("mixture", ("shipped",), {
        "the mean of another place": ("- mu[j]) ** 2", "- mu[0]) ** 2", "the logits that a place by logits for z is given"),
        "a one at another place": ("1.0 if j == k_z", "1.0 if j == 0", "entry 6 of theta once z is drawn"),
    }, each=6),
    Planted("sticks", ("scheduled", "shipped"), {
        "the logarithm of the other share": ("sum_softplus += _softplus(logit_v[i])", "sum_softplus += _softplus(-logit_v[i])", "of theta once alpha is drawn"),
    }, each=6),
    Planted("sticks", ("shipped",), {
        "users before for those beyond": ("before[j, i]", "before[i, j]", "the parameters that Gamma for v is given"),
    }, each=6),
    Planted("slices", ("scheduled", "shipped"), {
        "levels below one": ("level_z += z[i, j] * log_w_z[j]", "level_z += 0.0", "the level that a comparison for z is given"),
        "a uniform number for its logarithm": ("_next_exponential(s0", "_next_uniform(s0", "takes Exponential for z 0 times, expected"),
        "places above another level": ("_reaches(log_w_z[j], level_z)", "_reaches(log_w_z[j], left_z)", "the level that a comparison for z is given"),
        "all places": ("_next_categorical_above(logits_z, log_w_z, level_z, sums_z, ", "_next_categorical(logits_z, sums_z, ", ""),
        "drawn by other heights": ("(logits_z, log_w_z, level_z, sums_z, s0", "(logits_z, before_softplus, level_z, sums_z, s0", "the log weights that a place above a level for z is given"),
        "what is left of another stick": ("left_z = -sum_softplus_2", "left_z = sum_softplus_2", "the rest that the report of a level for z is given"),
        "a level that is not compared": ("below_z = _told_below(below_z, level_z, left_z)", "below_z = below_z + 0.0", "takes the report of a level for z 0 times, expected"),
        "what rows before told": ("_told_below(below_z, level_z", "_told_below(0.0, level_z", "the before that the report of a level for z is given"),
        "another level told": ("_told_below(below_z, level_z", "_told_below(below_z, E_z", "the level that the report of a level for z is given"),
        "nothing told": ("too_few_z[0] = below_z", "too_few_z[0] = 0.0", "what the draw of z reports"),
        "a place drawn before the level": ("        E_z, s0, s1, s2, s3 = _next_exponential(s0, s1, s2, s3)\n        level_z += -E_z\n", "        level_z += -1.0\n", "takes Exponential for z 0 times, expected"),
        "a count that is not told": ("too_few[0] = too_few_z[0]", "too_few[0] = 0.0", "the reported too_few"),
    }, each=6),
    Planted("slices_of_data", ("shipped",), {
        "weights of the first datum": ("log_w_z[j] = -(y[i] - mu[j])", "log_w_z[j] = -(y[0] - mu[j])", "the place that a comparison for z is given"),
    }, each=6),
    Planted("slices", ("shipped",), {
        "a level below another row's weight": ("level_z += z[i, j] * log_w_z[j]", "level_z += z[0, j] * log_w_z[j]", "the level that a comparison for z is given"),
        "places below the level": ("_reaches(log_w_z[j], level_z)", "_reaches(level_z, log_w_z[j])", "the place that a comparison for z is given"),
        "weights of other sticks": ("before[i, j] * _softplus(logit_v[j])", "before[i, j] * _softplus(-logit_v[j])", "the place that a comparison for z is given"),
        "a count that is not added up": ("too_few_sum += too_few[0]", "too_few_sum += 0.0", "the draws of too_few"),
    }, each=6),
    Planted("slices_of_data", ("scheduled", "shipped"), {
        "one count of two": ("too_few[0] = too_few_z[0] + too_few_z_[0]", "too_few[0] = too_few_z_[0]", "the reported too_few"),
        "a count where a draw is not due": ("        too_few_z[0] = 0.0", "        too_few_z[0] = 1.0", "the reported too_few"),
    }, each=6),
    Planted("one_of_three", ("scheduled", "shipped"), {
        "one row of one": ("1.0 if i == k_k", "1.0 if i == 1", "entry 0 of theta once k is drawn"),
    }, each=6),
    Planted("removal", ("scheduled", "shipped"), {
        "the mean of those caught": ("(1.0 - sigmoid_of_state_2) ** 3", "sigmoid_of_state_2 ** 3", "the parameters that Poisson for left is given"),
        "one count more": ("left_drawn[i] = count_left", "left_drawn[i] = count_left + 1.0", "entry 3 of theta once left is drawn"),
        "one count for all sites": ("count_left, s0, s1, s2, s3 = _next", "count_left, t0, t1, t2, t3 = _next", ""),
        "a gamma for a count": ("_next_poisson(mean_left, ", "_next_log_gamma(mean_left, ", "takes Poisson for left 0 times, expected"),
        "the counts that are left out": ("sum_catch3 + sum_left", "sum_catch3", "the parameters that Gamma for mu is given"),
    }, each=6),
    Planted("signal", ("shipped",), {
        "the trials of the first datum": ("n_k = y[i]", "n_k = y[0]", "the parameters that Binomial for k is given"),
    }, each=6),
    Planted("signal", ("scheduled", "shipped"), {
        "trials and share in each other's place": ("_next_binomial(n_k, p_k, ", "_next_binomial(p_k, n_k, ", "the parameters that Binomial for k is given"),
    }, each=6),
    Planted("mixture_weights", ("scheduled", "shipped"), {
        "a gamma for its logarithm": ("= log_G_w[i] + level_w", "= _exp(log_G_w[i]) + level_w", "entry 0 of theta once w is drawn"),
        "variables for the shares": ("log_w[j] - (y[i]", "w[j] - (y[i]", "the logits that a place by logits for z is given"),
        "shares before the draw": ("draw_z(theta_z, theta_mu, ", "draw_z(theta_z, theta, ", "the theta that draw 3 is given"),
    }, each=6),
    Planted("mixture_weights", ("shipped",), {
        "a logarithm that is not over the sum": ("log_w[1] = simplex_w_2[1] - (w_largest_2 + math.log(w_total_2))", "log_w[1] = simplex_w_2[1] - w_largest_2", "the logits that a place by logits for z is given"),
    }, each=6),
    Planted("shares", ("scheduled", "shipped"), {
        "uniform shares": ("_next_log_gamma(alpha_w, s0", "_next_uniform(s0", "takes Gamma for w 0 times, expected 3"),
        "the largest forgotten": ("w_total_2 = w_part_0_2 + w_part_1_2 + w_part_2_2", "w_total_2 = w_part_0_2 + w_part_1_2", "the matrix that _normal_by_covariance for x is given"),
    }, each=6),
    Planted("hmc_of_shares", ("scheduled", "shipped"), {
        "a word from before the shares": ("gradient(grad_U_start, theta_w, ", "gradient(grad_U_start, theta, ", "the theta that gradient is given"),
    }, each=6),
    Planted("sets", ("scheduled", "shipped"), {
        "a mean of the variables of a set": ("mean_x[i] = R_c", "mean_x[i] = c[i] + 0.0 * R_c", "the vector that _normal_by_covariance for x is given"),
    }, each=6),
    Planted("sghmc_gaussian, d = 2", ("shipped",), {
        "a normal twice": ("noise_r_1, s0, s1, s2, s3 = _next", "noise_r_0, s0, s1, s2, s3 = _next"),
        "a state that stays": ("noise_r_0, s0, s1, s2, s3 = _next", "noise_r_0, s0, s1, s2, _ = _next"),
        "a state not kept": ("    noise_state[2] = s2\n", ""),
        "the state of another place": ("    s1 = noise_state[1]", "    s1 = noise_state[0]"),
        "an entry written back as another": ("    theta[1] = theta_1\n", "    theta[1] = theta_0\n"),
    }, after="run", part=ITERATION, each=2),
    Planted("sghmc_logistic, d = 2", ("shipped",), {
        "noise of the batch's stream": ("_fill_normals(noise_state, noise_r)", "_fill_normals(batch_state, noise_r)"),
        "no noise drawn": ("            _fill_normals(noise_state, noise_r)\n", ""),
        "a batch of the noise's stream": ("_shuffle_indices(batch_state,", "_shuffle_indices(noise_state,"),
        "no batch": ("            _shuffle_indices(batch_state, permutation, batch)\n", ""),
        "blocks swapped in a step": ("            step(theta_new, r_new, theta, r,", "            step(theta_new, r_new, r, theta,"),
        "a new block for two": ("            step(theta_new, r_new, theta, r,", "            step(r_new, r_new, theta, r,"),
        "a block kept as another": ("r[entry] = r_new[entry]", "r[entry] = theta_new[entry]"),
    }, part=ITERATION, each=2),
    Planted("sghmc_logistic, d = 3, replacement", ("shipped",), {
        "a batch of too few rows": ("_fill_indices(batch_state, x.shape[0],", "_fill_indices(batch_state, theta.shape[0] - 1,"),
    }, part=ITERATION, each=2),
    Planted("sgld_w5", ("shipped",), {
        "no sweep": ("            sweep(", "            len("),
    }, part=ITERATION, each=2),
    Planted("sgld_poisson_regression", ("shipped",), {
        "another column": ("x_1 = x[row, 1]", "x_1 = x[row, 0]"),
        "a row too few": ("for row in range(N)", "for row in range(N - 1)"),
    }),
    Planted("sgld_poisson_regression, mapped", ("shipped",), {
        "another column of a view": ("3) * row + np.uint64(1)]", "3) * row]"),
        "rows of another length in a view": ("np.uint64(3) * row", "np.uint64(2) * row"),
    }),
    Planted("sgld_gaussian_mixture", ("shipped",), {
        "another component": ("grad_U_3 = grad_U_3 + theta[3]", "grad_U_3 = grad_U_3 + theta[2]"),
        "what cancels is not 1": ("exp_2[0] = 1.0 +", "exp_2[0] ="),
        "another function": ("exp_1 = 1.0 + _exp(", "exp_1 = 1.0 + _sigmoid("),
    }),
    Planted("sghmc_eight_schools", ("plain",), {
        "theta[1:3]": ("theta[2:4]", "theta[1:3]", "U of all data"),
    }, after="full_potential", part="the energies"),
    Planted("sghmc_eight_schools", ("plain",), {
        "= w[row] ** 2": ("= -w[row] ** 2", "= w[row] ** 2", "the log likelihood of every datum"),
    }, after="log_likelihood", part="the energies"),
    Planted("sghmc_linear_regression", ("plain",), {
        "noise_variance": ("(2.0 * noise_variance)", "noise_variance", "U of all data"),
    }, after="full_potential", part="the energies"),
    Planted("sghmc_linear_regression", ("plain",), {
        "y[0]": ("y[row]", "y[0]", "the log likelihood of every datum"),
    }, after="log_likelihood", part="the energies"),
    Planted("sghmc_linear_regression", ("plain",), {
        "/ 2.0": ("/ (2.0 * m)", "/ 2.0", "H - U"),
    }, after="auxiliary_energy", part="the energies"),
    Planted("guarded_funnel", ("plain",), {
        "1.0 + e[i]": ("1.0 - e[i]", "1.0 + e[i]", "H - U"),
    }, after="prepare_energies", part="the energies"),
    Planted("sghmc_gaussian", ("shipped",), {
        "a sign": ("= -inv_Sigma_difference", "= inv_Sigma_difference", "the gradient of all data"),
    }, after="full_gradient", part="the gradient of all data"),
    Planted("sghmc_gaussian", ("plain",), {
        "a sign": ("= -inv_Sigma_difference", "= inv_Sigma_difference", "the slope of U of all data"),
    }, after="full_gradient", part="the energies"),
    Planted("sghmc_gaussian", ("shipped",), {
        "not inverted": ("np.linalg.inv(Sigma)", "Sigma + 0.0", "the gradient of all data"),
    }, after="prepare_full_gradient", part="the gradient of all data"),
    Planted("sghmc_linear_regression", ("plain at a point",), {
        "a sign of the likelihood": ("= -(part", "= (part", "the log likelihood of every datum"),
    }, after="log_likelihood"),
    Planted("two involutions", ("shipped",), {
        "a Jacobian that is forgotten": (" + 3.0 * w_drawn[0]", "", "the log acceptance ratio that a decision is given"),
        "a Jacobian of the wrong power": ("3.0 * w_drawn[0]", "2.0 * w_drawn[0]", "the log acceptance ratio that a decision is given"),
        "the law of another mean": ("w_drawn[0] = 0.5 +", "w_drawn[0] = 0.25 +", "the mean of w_drawn"),
        "a draw of another width": ("_noise_scale(0.5625,", "_noise_scale(0.75,", "the covariance of w_drawn"),
        "the other way": ("_exp(w_drawn[0])", "_exp(-w_drawn[0])", "the theta that potential is given"),
        "one entry for all": ("theta_image[i] = theta[i] * exp", "theta_image[i] = theta[0] * exp", "the theta that potential is given"),
        "U where it began, twice": ("U_image = potential(theta_image,", "U_image = potential(theta,", "the theta that potential is given"),
        "what is proposed, whatever it is": ("theta_image[i] if accept else theta[i]", "theta_image[i]", "the theta that potential is given"),
        "the uniform number of the move before": ("_accepted(log_ratio, noise_accept_2[0]", "_accepted(log_ratio, noise_accept[0]", "two normals of its own"),
        "the acceptance of the first alone": (" + probability_2 / 2.0", "", "the reported involution_acceptance"),
    }),
    Planted("replicas", ("plain", "shipped"), {
        "U of another block without its factor": ("U_y * b", "U_y", "H - U"),
        "U at a momentum": ("U_y = potential(y,", "U_y = potential(s,", "takes U at another value"),
        "U of another block left out": ("U_y * b + ", "", "H - U"),
    }, after="rest", part="the moves"),
    Planted("involutions of matrices", ("shipped",), {
        "a mean of the state that is not in the ratio": ("+ 0.4375 * w_drawn_inv_M_theta", "", "the log acceptance ratio that a decision is given"),
        "a factor that is transposed": ("total += L_w_drawn[i, j] * noise_w_drawn[j]", "total += L_w_drawn[j, i] * noise_w_drawn[j]", "other than as L @ noise"),
        "a block that is not turned": ("r_image[i] = -r[i]", "r_image[i] = r[i]", "the mean of r_mapped_drawn"),
        "H - U of another momentum": ("rest_image = rest(r_image,", "rest_image = rest(r,", "the r that rest is given"),
        "a trajectory from where it was before": ("theta_at[i] = theta_mapped_mapped[i]", "theta_at[i] = theta_mapped[i]", "the theta that step is given"),
    }),
    Planted("involutions of some cycles", ("shipped",), {
        "a move that is not due moves": ("theta_mapped[i] = theta[i]\n", "theta_mapped[i] = -theta[i]\n", "what is left of theta"),
        "a move of another cycle": ("_is_due(cycles[0], 3)", "_is_due(cycles[0], 6)", "does a move every 6 cycles"),
        "one that is due where another is": ("if due_2:", "if due_3:", "does not draw w_drawn"),
        "a count of those that were not": ("involutions_tried[0] = 0.0", "involutions_tried[0] = 1.0", "the reported involutions_tried"),
    }),
    Planted("sghmc_gaussian_mean_baoab", ("shipped",), {
        "a new minibatch in the second half kick": ("            _shuffle_indices(batch_state, permutation, batch)\n", "            _shuffle_indices(batch_state, permutation, batch)\n            gradient(grad_U_tilde, theta, prior_variance, inv_Sigma, x, batch, x_batch_0_1)\n            _shuffle_indices(batch_state, permutation, batch)\n"),
        "the gradient anew of the same minibatch": ("            _shuffle_indices(batch_state, permutation, batch)\n", "            _shuffle_indices(batch_state, permutation, batch)\n            gradient(grad_U_tilde, theta, prior_variance, inv_Sigma, x, batch, x_batch_0_1)\n"),
        "no minibatch": ("            _shuffle_indices(batch_state, permutation, batch)\n", ""),
        "the momentum passed on for it": ("grad_U_tilde[entry] = grad_U_tilde_new[entry]", "grad_U_tilde[entry] = r_new[entry]"),
        "the new one in the first": ("r[i] + step_factor * grad_U_tilde[i]", "r[i] + step_factor * grad_U_tilde_new[i]"),
        "a gradient at the old position": ("gradient(grad_U_tilde_new, theta_new, ", "gradient(grad_U_tilde_new, theta, "),
        "a first gradient of no minibatch": ("    _shuffle_indices(batch_state, permutation, batch)\n    gradient", "    gradient"),
        "O gives up eps^2 V": ("eps ** 2 * change_O_V_change_O[j, i] / 4.0 + eps * V_change_O[i, j] / 2.0 + eps * V_change_O[j, i] / 2.0 + V[i, j]", "V[i, j]"),
        "less of E": ("eps ** 2 * change_O_V_change_O[j, i] / 4.0", "eps ** 2 * change_O_V_change_O[j, i] / 8.0"),
    }, each=0),
    Planted("again of gaussian", ("scheduled",), {
        "U before the first move": ("log_ratio = U_next[0] -", "log_ratio = U[0] -", "the log acceptance ratio that a decision is given"),
        "the position before the first move": ("= theta_next[i]\n", "= theta[i]\n", "the theta that step is given"),
        "the momentum before its refresh": ("= r_next_drawn[i]\n", "= r_next[i]\n", "the r that step is given"),
        "no flip of the second move": ("else -r_next_drawn[i]", "else r_next_drawn[i]", "what is left of r"),
        "the position of the first move on refusal": ("accept else theta_next[i]", "accept else theta[i]", "what is left of theta"),
        "one decision for both": ("noise_accept_2[0], noise_accept_2[1]", "noise_accept[0], noise_accept[1]", "uses normals twice: noise_accept, noise_length, noise_accept, noise_r, noise_r_2"),
        "steps of the first move's length": ("inv_M, eps_scaled, inv_Sigma", "inv_M, eps, inv_Sigma", "the eps that step is given"),
        "a kick taken back by another": ("r_at_v2[i] - eps_scaled *", "r_at_v2[i] - eps *", "the r that rest is given"),
        "the number of steps of the first move": ("for _ in range(length)", "for _ in range(3)", "takes step 6 times, expected 5"),
        "acceptance of the first move alone": ("taken / 2.0 + taken_2 / 2.0", "taken", "the reported acceptance"),
        "acceptance of the other move": ("acceptance_2[0] = taken_2", "acceptance_2[0] = taken", "the reported acceptance_2"),
    }, each=2),
    Planted("again_every of gaussian", ("scheduled",), {
        "acceptance of a mean where they are counted": ("= taken + taken_2 + taken_3", "= taken / 2.0 + taken_2 / 2.0 + taken_3 / 2.0", "the reported acceptance"),
        "acceptance of a kind that is summed": ("acceptance_2[0] = taken_2 / 2.0 + taken_3 / 2.0", "acceptance_2[0] = taken_2 + taken_3", "the reported acceptance_2"),
        "a move of a kind that is not counted": ("tried_1[0] += 1.0", "tried_1[0] += 0.0", "the reported tried_1"),
        "a move that is not counted": ("tried[0] += 1.0", "tried[0] += 0.0", "the reported tried"),
        "a move that is counted where it is not due": ("tried[0] = 2.0", "tried[0] = 3.0", "the reported tried"),
        "a move that is not due": ("_is_due(cycles[0], 2)", "_is_due(cycles[0], 3)", ""),
    }, each=2),
    Planted("two words", ("scheduled",), {
        "the blocks of the first move": ("theta_at_v2, r_at_v2, moved_2,", "theta_at_v2, r_at_v2, moved,", "the moved that step is given"),
        "a kick of the blocks of the first move": ("moved_2[i] / 2.0", "moved[i] / 2.0", "the r that step is given"),
    }, each=2),
    Planted("two words and a walk", ("scheduled",), {
        "the gradient of the first move, though it is evaluated anew": ("grad_U_at_v2[i] = grad_U_start_v2[i]", "grad_U_at_v2[i] = grad_U_start[i]", "the r that step is given"),
        "a gradient that is evaluated at the state of the first move": ("(grad_U_start_v2, theta_next_mapped", "(grad_U_start_v2, theta_next", "the theta that gradient is given"),
        "U that is evaluated at the state of the first move": ("U_at_v2 = potential(theta_next_mapped", "U_at_v2 = potential(theta_next", "the theta that potential is given"),
    }, each=2),
    Planted("rhmc_funnel", ("shipped",), {
        "a substitution of the value before": ("r_v1_1 * r_v1_1", "r_1 * r_1", "read back"),
        "from the turn before, not again": ("theta_new_0 = part_2 + theta_v1_0", "theta_new_0 = part_2 + theta_v2_0", "read back"),
    }),
    Planted("rhmc_logistic", ("shipped",), {
        "a step for half of it": ("step_factor = eps / 2.0", "step_factor = eps"),
        "the factor of another matrix": ("_cholesky_factor(root_matrix_4, matrix_4)", "_cholesky_factor(root_matrix_4, matrix_2)"),
        "half of a determinant": ("log_det_matrix_5 += 2.0 *", "log_det_matrix_5 += 1.0 *"),
    }, each=0),
    Planted("hmc_reflected_categories", ("shipped",), {
        "a momentum that is not turned": ("r_v2_1 = -r_1 if theta_v1_1 < 0.0 else r_1", "r_v2_1 = r_1"),
        "a momentum that is turned always": ("r_v2_0 = -r_0 if theta_v1_0 < 0.0 else r_0", "r_v2_0 = -r_0"),
    }),
    Planted("two functions", ("shipped",), {
        "the block itself": ("move_turn(theta_turn,", "move_turn(theta,", "changes theta in cycle"),
        "the copy of another": ("theta_turn_along[i] = theta_turn[i]", "theta_turn_along[i] = theta[i]", "the theta that move_along is given"),
        "the momentum itself": ("move_along(theta_turn_along, r_drawn_along,", "move_along(theta_turn_along, r_drawn,", "the mean of r_drawn"),
        "parameters in another order": ("move_turn(theta_turn, mu, Sigma,", "move_turn(theta_turn, Sigma, mu,", "gives move_turn another mu than its own"),
        "the chain's own stream": ("Sigma, stream_turn)", "Sigma, noise_state)", "the stream that move_turn is given"),
        "the stream of another": ("Sigma, stream_along)", "Sigma, stream_turn)", "the stream that move_along is given"),
        "a stream for two": ("    stream_along = _own_stream(noise_state)\n", "", "reads stream_along, which nothing defines"),
        "a stream of no stream": ("_own_stream(noise_state)", "_own_stream(noise_r)", "from a stream that is not the chain's"),
        "another function": ("move_along(theta_turn_along, r_drawn_along,", "move_turn(theta_turn_along,", "takes move_turn 2 times, expected 1"),
        "code that is not called": ("    move_turn(theta_turn, mu, Sigma, stream_turn)\n", "", "takes move_turn 0 times, expected 1"),
    }, each=2),
    Planted("a function of some cycles", ("shipped",), {
        "code that is called twice": ("        move_along(theta_along, r_drawn_along, mu, Sigma, stream_along)\n", "        move_along(theta_along, r_drawn_along, mu, Sigma, stream_along)\n        move_along(theta_along, r_drawn_along, mu, Sigma, stream_along)\n", "takes move_along 2 times, expected 1"),
        "a block that is not left when it is not due": ("theta_along[i] = theta[i]", "theta_along[i] = -theta[i]", "theta"),
        "a schedule of every cycle": ("_is_due(cycles[0], 2)", "_is_due(cycles[0], 1)", "does a move every 1 cycles"),
    }, each=2),
    Planted("a function of two blocks", ("shipped",), {
        "blocks that are exchanged": ("move_along(theta_along, r_along,", "move_along(r_along, theta_along,", "the theta that move_along is given"),
        "a word from before it": ("theta_at[i] = theta_along[i]", "theta_at[i] = theta[i]", "the theta that step is given"),
    }, each=2),
    Planted("sghmc_gaussian, d = 2", ("shipped",), {
        "a swapped result": ("return (theta_new_0, theta_new_1", "return (theta_new_1, theta_new_0"),
        "an old value": ("inv_M[0, 1] * r_new_1", "inv_M[0, 1] * r_1"),
    }, each=2),
    Planted("sghmc_logistic, d = 2", ("shipped",), {
        "a feature twice": ("x_1 = x[row, 1]", "x_1 = x[row, 0]"),
        "a sum of another": ("grad_U_tilde_1 += x_1", "grad_U_tilde_1 += x_0"),
        "a row that is not copied": ("range(np.uint64(batch_size)):\n        row", "range(np.uint64(batch_size - 1)):\n        row"),
    }, each=2),
    Planted("sgnht_logistic, d = 14", ("shipped",), {
        "copied over another row": ("np.uint64(4) * b", "np.uint64(2) * b"),
        "those that fill a vector counted": ("np.float64(b < np.uint64(batch_size))", "np.float64(b < np.uint64(batch_size + 1))"),
        "one of those that fill a vector not copied": ("range(np.uint64(batch_size), np.uint64(batch_size + 7", "range(np.uint64(batch_size + 1), np.uint64(batch_size + 7"),
    }, each=2),
    Planted("sghmc_logistic, d = 17", ("shipped",), {
        "the wrong row of four": ("row_2 = batch[start + first + np.uint64(2)]", "row_2 = batch[start + first + np.uint64(3)]"),
        "the wrong weight of four": ("weight_2 = weight[first + np.uint64(2)]", "weight_2 = weight[first + np.uint64(1)]"),
        "no rows beyond them": ("range(batch_size - batch_size % 8, batch_size)", "range(batch_size - batch_size % 8, batch_size - 1)"),
        "a row twice": ("range(batch_size - batch_size % 8, batch_size)", "range(batch_size - batch_size % 8 - 1, batch_size)"),
        "a row too few": ("range(np.uint64(x_theta.shape[0])):", "range(np.uint64(x_theta.shape[0] - 1)):"),
    }, each=2),
    Planted("sghmc_logistic, d = 32", ("shipped",), {
        "a row asked for beyond the batch": ("min(start + k + np.uint64(8), np.uint64(batch_size - 1))", "start + k + np.uint64(8)"),
        "the place asked for beyond the data": ("_read_ahead(y, ahead)", "_read_ahead(x_theta, ahead)"),
        "the row asked for in place of its own": ("row = batch[start + k]\n            total", "row = ahead\n            total"),
    }, each=2),
    Planted("baoab_path_double_well", ("shipped",), {
        "heat of the other sign": ("heat_0 = -rest_before + rest_after", "heat_0 = rest_before - rest_after", "the heat"),
        "heat that is lost": ("heat_0 = -rest_before + rest_after", "heat_0 = 0.0 * rest_after", "the heat"),
        "heat since the start of the step": ("rest_before = rest(r_v1_0", "rest_before = rest(r_0", "the r that rest is given"),
    }),
    Planted("generalised_langevin_gaussian_baoab", ("shipped",), {
        "the drift of another flow": ("F_r_w[i, j] = -Lambda[i, j]", "F_r_w[i, j] = Lambda[i, j]", "a linear flow"),
        "half of the noise of a flow": ("two_D_w_w[i, j] = 2.0 * A[i, j]", "two_D_w_w[i, j] = A[i, j]", "a linear flow"),
        "half of the time of a flow": ("[two_D_w_r, two_D_w_w]], 1.0, eps)", "[two_D_w_r, two_D_w_w]], 0.5, eps)", "a linear flow"),
    }),
    Planted("guarded_funnel", ("shipped",), {
        "the way back of one coordinate": ("gap += abs(theta_1 - theta_back_1)", "gap += 0.0", "the gap that the way back is given"),
        "a momentum that is not turned": ("abs(r_drawn_0 + r_back_0)", "abs(r_drawn_0 - r_back_0)", "the gap that the way back is given"),
        "a way back from the start": ("theta_back_0 = theta_at_0", "theta_back_0 = theta_0", "the theta that step is given"),
        "guards told by one ratio": ("_guards(led, log_ratio)", "_guards(led, led)", "the ratios that the guards is given"),
        "guards told by the last ratio": ("_guards(led, log_ratio)", "_guards(log_ratio, log_ratio)", "the ratios that the guards is given"),
        "one guard for the other": ("unsolved_0 = lost", "unsolved_0 = one_way", "the reported unsolved"),
        "a guard that is not added up": ("unsolved_sum += unsolved_0", "unsolved_sum += irreversible_0", "the draws of unsolved"),
        "the other sum": ("irreversible_sum += irreversible_0", "unsolved_sum += irreversible_0", "the draws of "),
        "a sum that begins at one": ("irreversible_sum = 0.0", "irreversible_sum = 1.0", "the draws of irreversible"),
    }, each=0),
    Planted("hmc of gaussian", ("scheduled",), {
        "the old U for the next move": ("U[entry] = U_next[entry]", "U[entry] = U[entry]", "the U that cycle is given"),
        "the old gradient for the next move": ("grad_U[entry] = grad_U_next[entry]", "grad_U[entry] = theta_next[entry]", "the grad_U that cycle is given"),
        "acceptance of the last move alone": ("acceptance_sum += acceptance[0]", "acceptance_sum = acceptance[0]", "the draws of acceptance"),
        "the noise of the refresh to decide by": ("_fill_normals(noise_state, noise_accept)", "_fill_normals(noise_state, noise_r)", "takes N 48 times, expected 40"),
    }, after="run", part=ITERATION),
    Planted("hmc of gaussian", ("shipped",), {
        "the old U for the next move": ("grad_U_2, U_0, acceptance_0 = cycle(", "grad_U_2, _, acceptance_0 = cycle(", "the U that cycle is given"),
        "the old gradient for the next move": ("grad_U_1, grad_U_2, U_0, acceptance_0 = cycle(", "grad_U_2, grad_U_1, U_0, acceptance_0 = cycle(", "the grad_U that cycle is given"),
        "acceptance of the last move alone": ("acceptance_sum += acceptance_0", "acceptance_sum = acceptance_0", "the draws of acceptance"),
        "as many draws as entries": ("range(theta_draws.shape[0])", "range(theta_draws.shape[1])", ""),
        "as many steps as entries": ("range(thin)", "range(theta_draws.shape[1])", "takes N 30 times, expected 40"),
        "an entry for another": ("theta_draws[kept, 1] = theta_1", "theta_draws[kept, 1] = theta_2", "the draws of theta"),
        "one row for all draws": ("r_draws[kept, 1] =", "r_draws[0, 1] =", "the draws of r"),
        "a sum for a mean": ("acceptance_sum / thin", "acceptance_sum", "the draws of acceptance"),
        "a sum that goes on": ("        acceptance_sum = 0.0\n        finite", "        finite", "the draws of acceptance"),
        "an entry that is not looked at": ("        finite = finite and abs(r_1) <= 1.7976931348623157e+308\n", "", "whether it is finite"),
        "a chain that ends where it is finite": ("if not finite:", "if finite:", "expected 40"),
        "a state that is not left for the next call": ("    theta[1] = theta_1\n", "", "the theta that is left"),
        "words that are drawn again": ("    noise_state[2] = s2\n", "", "does not keep the state of its noise"),
        "normals in another order": ("noise_r_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)\n            noise_r_1,", "noise_r_1, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)\n            noise_r_0,", "the noise_r that cycle is given"),
        "the noise of the refresh to decide by": ("noise_accept_0, s0, s1, s2, s3 = _next_normal(s0, s1, s2, s3)", "noise_accept_0 = noise_r_0", "takes N 32 times, expected 40"),
    }, after="run", part=ITERATION),
    Planted("cir_minibatch", ("shipped",), {
        "entries for rows": ("N = z.shape[0]", "N = z.shape[1]", "the parameters that Gamma of count for g is given"),
    }),
    Planted("sghmc_logistic", ("shipped",), {
        "one minibatch for all steps": ("        for _ in range(thin):\n            _shuffle_indices(batch_state, permutation, batch)\n", "        _shuffle_indices(batch_state, permutation, batch)\n        for _ in range(thin):\n", "rows 2 times, expected 6"),
        "a minibatch of another stream": ("_shuffle_indices(batch_state, ", "_shuffle_indices(noise_state, ", "from rows or a state other than"),
        "as many draws as entries": ("kept in range(theta_draws.shape[0])", "kept in range(theta_draws.shape[1])", ""),
        "the state before the last step": ("theta_draws[kept, entry] = theta[entry]", "theta_draws[kept, entry] = 2.0 * theta[entry]", "the draws of theta"),
    }, after="run", part=ITERATION),
    Planted("again_every of gaussian", ("scheduled",), {
        "a mean over steps of moves that are counted": ("acceptance_1_sum / tried_1_sum", "acceptance_1_sum / thin", "the draws of acceptance_1"),
    }, after="run", part=ITERATION),
    Planted("every of gaussian", ("scheduled",), {
        "the count of the move before": ("cycles[entry] = cycles_next[entry]", "cycles[entry] = cycles[entry]", "the cycles that cycle is given"),
    }, after="run", part=ITERATION),
    Planted("every of gaussian", ("shipped",), {
        "the count of the move before": ("U_0, cycles_0, acceptance_0 = cycle(", "U_0, _, acceptance_0 = cycle(", "the cycles that cycle is given"),
    }, after="run", part=ITERATION),
    Planted("hmc of gaussian", ("scheduled",), {
        "U of another state at the start": ("U[0] = potential(theta, ", "U[0] = potential(r, ", "the theta that potential is given"),
        "no U at the start": ("    U[0] = potential(theta, mu, inv_Sigma, inv_Sigma_difference_2)\n", "", "takes potential 0 times, expected 1"),
        "a gradient of the momentum at the start": ("    gradient(grad_U, theta, ", "    gradient(grad_U, r, ", "the theta that gradient is given"),
        "no gradient at the start": ("    gradient(grad_U, theta, mu, inv_Sigma, inv_Sigma_difference)\n", "", "takes gradient 0 times, expected 1"),
        "gradients that are not their own": ("    gradient(grad_U, theta, mu, inv_Sigma, inv_Sigma_difference)\n", "    gradient(grad_U, theta, mu, inv_Sigma, inv_Sigma_difference)\n    grad_U[1] = grad_U[2]\n", "does not write the first grad_U"),
    }, after="first_values", part=FIRST),
    Planted("hmc of gaussian", ("shipped",), {
        "U of another state at the start": ("U_0 = potential(theta_0, theta_1", "U_0 = potential(theta_1, theta_0", "the theta that potential is given"),
        "no U at the start": ("    U_0 = potential(theta_0, theta_1, theta_2, mu, inv_Sigma)\n", "    U_0 = 0.0\n", "takes potential 0 times, expected 1"),
        "a gradient of the momentum at the start": ("= gradient(theta_0, theta_1, ", "= gradient(theta_1, theta_0, ", "the theta that gradient is given"),
        "no gradient at the start": ("    grad_U_0, grad_U_1, grad_U_2 = gradient(theta_0, theta_1, theta_2, mu, inv_Sigma)\n", "    grad_U_0, grad_U_1, grad_U_2 = (theta_0, theta_1, theta_2)\n", "takes gradient 0 times, expected 1"),
        "gradients that are not their own": ("    grad_U[1] = grad_U_1\n", "    grad_U[1] = grad_U_2\n", "does not write the first grad_U"),
    }, after="first_values", part=FIRST),
    Planted("every of gaussian", ("scheduled",), {
        "a chain that begins late": ("    cycles[0] = 0.0\n", "    cycles[0] = 1.0\n", "does not write the first cycles"),
    }, after="first_values", part=FIRST),
    Planted("every of gaussian", ("shipped",), {
        "a chain that begins late": ("    cycles_0 = 0.0\n", "    cycles_0 = 1.0\n", "does not write the first cycles"),
    }, after="first_values", part=FIRST),
    Planted("hmc of logistic_regression", ("scheduled",), {
        "the prior left out": ("theta_theta / (2.0 * prior_variance) + U_value", "U_value", "in U"),
        "a refresh of variance one": ("_noise_scale(m, 0.0, 1.0, 'r')", "_noise_scale(1.0, 0.0, 1.0, 'r')", "the covariance of r"),
        "the data of another field": ("U_at = potential(theta_at, prior_variance, x, y,", "U_at = potential(theta_at, prior_variance, x, x,", "passes potential another array than y, which has the shape (3,)"),
    }, each=3),
    Planted("hmc of logistic_regression", ("shipped",), {
        "the prior left out of small rows": ("log_of_constants + theta_theta / (2.0 * prior_variance)\n", "log_of_constants\n", "in U"),
        "a mass that is one": ("energy = r_r / (2.0 * m)", "energy = r_r / 2.0", "H - U"),
        "a refresh of 1/m": ("_noise_scale(m, 0.0, 1.0, 'r')", "_noise_scale(1.0 / m, 0.0, 1.0, 'r')", "the covariance of r"),
        "the rows in another order": ("U_at = potential(theta_at, prior_variance, x, y", "U_at = potential(theta_at, prior_variance, x, y[::-1]", "cannot be read back"),
    }, each=3),
    Planted("hmc of eight_schools", ("scheduled",), {
        "a Jacobian left out": (" - theta[1] + theta[0] * theta[0]", " + theta[0] * theta[0]", "in U"),
    }, each=3),
    Planted("ghmc of double_well", ("scheduled",), {
        "no flip of one coordinate": ("else -r_drawn_0", "else r_drawn_0", "what is left of r"),
        "no share kept of one coordinate": ("0.9 * r_0", "r_0", "the mean of r_drawn"),
        "a well that is flatter": ("U_value = theta_0_squared * (-2.0 + theta_0_squared)", "U_value = theta_0_squared * (-1.0 + theta_0_squared)", "in U"),
        "the old momentum squared": ("rest_at = rest(r_at_0, m)", "rest_at = rest(r_0, m)", "the r that rest is given"),
    }, each=3),
)
