import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../bench/random.ts'
import type { LiveChain } from '../chain.ts'
import type { Nodes } from './nodes.ts'

/** What happens to a node: it dies, or it stands still and goes on later. */
export type NodeFault = 'kill' | 'hang'

/** By turns. What comes second happens to the same node: the others have all documents, whatever copies it lacks. */
const COURSES: readonly (readonly NodeFault[])[] = [['kill'], ['hang'], ['hang', 'kill']]

export const courseOf = (seed: number): readonly NodeFault[] => COURSES[seed % COURSES.length]!

/** Blocks that come at once: they are under way to the cluster when the node fails. */
const BURST = 15
/** Time that a dead node stays away, and that one stands still: at least, and by how much more at most. */
const DEAD_MS = { least: 2_000, more: 3_000 }
const STILL_MS = { least: 6_000, more: 9_000 }
const REST_MS = 2_000

interface Faulty {
  nodes: Nodes
  /** How many nodes there are. */
  count: number
  course: readonly NodeFault[]
  random: Random
  chain: LiveChain
  counts: { nodeKills: number; nodeHangs: number }
  note(text: string): void
}

/** All of it happens, and the node runs again in the end. */
export const haveFaults = async ({ nodes, count, course, random, chain, counts, note }: Faulty): Promise<void> => {
  const wait = ({ least, more }: { least: number; more: number }) => sleep(least + more * random.unit())
  const node = 1 + random.below(count)
  const kill = async () => {
    counts.nodeKills++
    note(`kills node ${node}`)
    await nodes.signal(node, 'KILL')
    await wait(DEAD_MS)
    await nodes.start(node)
  }
  const hang = async () => {
    counts.nodeHangs++
    note(`stops node ${node}`)
    await nodes.signal(node, 'STOP')
    try {
      await wait(STILL_MS)
    } finally {
      await nodes.signal(node, 'CONT')
    }
    note(`node ${node} goes on`)
  }
  await sleep(REST_MS * random.unit())
  for (const fault of course) {
    chain.grow(BURST)
    await sleep(1_000 * random.unit())
    await { kill, hang }[fault]()
    await sleep(REST_MS)
  }
}
