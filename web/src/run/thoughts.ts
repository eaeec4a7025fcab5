/** What a brain has in mind, read from its memory right after it has decided. Brains are told apart by what they remember. */
import type { Case, Mind } from "./types";

/** Gives a part of a named array of the brain, or null if it has none of this name. */
export type Reader = (name: string, most?: number, skipped?: number) => Float32Array | null;

const MOST_UNITS = 320;
/** Of a circuit's state: real parts of eight samples, then imaginary parts, for every basis state. */
const LANES = 8;

/** Positive numbers as shares of their sum, head by head. */
function shares(values: Float32Array, heads: number): Float32Array {
  const levels = values.length / heads;
  return values.map((value, n) => {
    const first = n - (n % levels);
    let total = 0;
    for (let k = first; k < first + levels; k++) total += values[k]!;
    return value / total;
  });
}

/** What the layers of a network put out for the moment: those in the middle, and the last. */
function layers(read: Reader): { hidden: Float32Array; last: Float32Array } | null {
  const [first, outputs] = [read("net.first_unit"), read("net.outputs")];
  if (!first || !outputs) return null;
  const found = [...first].map((at, n) => [...read("net.units", outputs[n], at)!]);
  return { hidden: Float32Array.from(found.slice(0, -1).flat()).slice(0, MOST_UNITS), last: Float32Array.from(found.at(-1)!) };
}

/** Of a network whose last layer gives chances and a value, values, or what speaks for each action. */
function ofNetwork(given: Case, read: Reader): Mind {
  const found = layers(read);
  if (!found) return {};
  const heads = given.choices ? 1 : given.action_width;
  const { hidden, last } = found;
  const units = hidden.length ? { units: hidden, called: "units of the network" } : {};
  if (read("rollout.logp", 1)) return { ...units, chances: shares(last.slice(0, -1), heads), value: last.at(-1)! };
  return read("replay.rewards", 1) ? { ...units, worths: last } : { ...units, votes: last };
}

/** Of a readout that learned from reward: what it chose is 1 - p, everything else is -p. */
function ofReadout(given: Case, read: Reader): Mind {
  const factors = read("readout.factors");
  if (!factors) return {};
  const levels = given.choices || (Number(given.brain.config["levels"]) || 2) * given.action_width;
  const value = read("readout.value");
  return { chances: factors.slice(0, levels).map((one) => (one < 0 ? -one : 1 - one)), ...(value && { value: value[0]! }) };
}

/** The state that recurrent brains carry from moment to moment; a spiking one holds potentials, fatigue, spikes and traces. */
function ofState(given: Case, read: Reader): Mind {
  const state = read("present");
  if (!state) return {};
  if (given.brain.name !== "spiking_ppo") return { units: state.slice(0, MOST_UNITS), called: given.brain.name.startsWith("connectome") ? "neurons of the worm" : "state that is carried on" };
  const count = state.length / 4;
  return { units: state.slice(0, count), called: "membrane potentials", spikes: state.slice(2 * count, 3 * count) };
}

function ofSpikes(read: Reader): Mind {
  const spikes = read("net.fired") && read("net.spikes") ? read("net.fired") : read("net.count") ?? read("spike");
  const potentials = read("net.potential", MOST_UNITS) ?? read("activation", MOST_UNITS);
  const binary = read("now", 200);
  if (binary) return { spikes: binary };
  return { ...(spikes && { spikes: spikes.slice(0, MOST_UNITS) }), ...(potentials && { units: potentials, called: "membrane potentials" }) };
}

function ofCircuit(read: Reader): Mind {
  const ket = read("circuit.kets");
  if (!ket) return {};
  const [amplitudes, count] = [basisStates(read), Math.log2(basisStates(read))];
  const basis = Float32Array.from({ length: amplitudes }, (_, k) => ket[2 * LANES * k]! ** 2 + ket[2 * LANES * k + LANES]! ** 2);
  const z = (q: number) => basis.reduce((sum, chance, k) => sum + ((k >> q) & 1 ? -chance : chance), 0);
  return { basis, qubits: Float32Array.from({ length: count }, (_, q) => z(q)) };
}

const basisStates = (read: Reader): number => read("circuit.bra")!.length / (2 * LANES);

function ofVotes(read: Reader): Mind {
  const [votes, chosen] = [read("choice.votes"), read("shares")];
  if (votes) return { votes };
  if (!chosen || read("rollout.logp", 1)) return {};
  return read("net.readout", 1) ? { chances: chosen.slice(0, -1), value: read("net.readout")!.at(-1)! } : { votes: chosen };
}

/** Chances of joint actions as chances of the levels of each effector; the first effector changes fastest. */
function marginals(joint: Float32Array, heads: number): Float32Array {
  const levels = Math.round(joint.length ** (1 / heads));
  const found = new Float32Array(heads * levels);
  joint.forEach((chance, n) => {
    for (let head = 0; head < heads; head++) found[head * levels + (Math.floor(n / levels ** head) % levels)]! += chance;
  });
  return found;
}

/** Of a table of states and actions: the row of the state that was seen. */
function ofTable(given: Case, read: Reader): Mind {
  const row = read("row");
  if (!row || !given.choices || !read("table", 1)) return {};
  return { worths: read("table", given.choices, row[0]! * given.choices)! };
}

/** Of a model of the world: how likely each action is, and which hidden context is believed in. */
function ofModel(given: Case, read: Reader): Mind {
  const [chances, belief] = [read("chances"), read("belief")];
  return chances && belief ? { chances: given.choices ? chances : marginals(chances, given.action_width), belief } : {};
}

export function mindOf(given: Case, read: Reader): Mind {
  const features = read("readout.phi") && !read("circuit.kets", 1) ? { units: read("readout.phi", MOST_UNITS)!, called: "features that are read out" } : {};
  return { ...features, ...ofVotes(read), ...ofReadout(given, read), ...ofNetwork(given, read), ...ofSpikes(read), ...ofState(given, read), ...ofCircuit(read), ...ofTable(given, read), ...ofModel(given, read) };
}
