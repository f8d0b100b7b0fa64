import type { Config } from '../config/index.ts'
import { about, type Finding } from './finding.ts'
import { newestStored } from './store.ts'

/** Times that the other checks saw. */
export interface Watch {
  /** Epoch milliseconds, and `performance.now()`, at the start. */
  startedAt: number
  started: number
  /** Newest blocks of nodes: epoch seconds, and when they came, in epoch milliseconds. */
  heads: { node: string; time: number; at: number }[]
}

/** The clock of this machine. Blocks are never from the future, so that what is newer than now says that it is slow. */
export function* checkClock({ data }: Pick<Config, 'data'>, { startedAt, started, heads }: Watch): Generator<Finding> {
  const { ok, warn, fail } = about('clock', 'clock of this machine')
  const jumped = Date.now() - startedAt - (performance.now() - started)
  if (Math.abs(jumped) > JUMP_MS)
    yield warn(
      `it jumped by ${seconds(jumped)} s while it was looked at`,
      'Let the clock follow a time server (chrony).',
    )
  const stored = newestStored(data)
  const ahead = [
    ...heads.map(({ node, time, at }) => ({ what: `the newest block of ${node}`, ms: time * 1_000 - at })),
    ...(stored === undefined ? [] : [{ what: 'the newest stored block', ms: stored * 1_000 - Date.now() }]),
  ].toSorted((a, b) => b.ms - a.ms)[0]
  if (ahead === undefined) return yield ok('there is no block to compare it with')
  if (ahead.ms > AHEAD_MS)
    return yield fail(
      `${ahead.what} is ${seconds(ahead.ms)} s ahead of it: the clock is slow, or that chain's is fast`,
      'Set the clock, and let it follow a time server (chrony). Signatures of webhooks are refused by receivers whose clock differs.',
    )
  yield ok('no block is ahead of it')
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1)

const JUMP_MS = 500
/** Chains allow blocks some seconds ahead of their time: Ethereum before the merge 15. */
const AHEAD_MS = 15_000
