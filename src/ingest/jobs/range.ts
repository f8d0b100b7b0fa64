import type { Scoping } from '../../config/scopes.ts'
import { refuse } from '../../lib/errors.ts'
import { systemClock } from '../../lib/retry.ts'
import type { Work } from '../job-context.ts'
import type { Job } from '../messages.ts'
import { blockAt, scopesAt, scopesFrom } from '../scoped/resolve-scopes.ts'
import { AGAIN_MS, leaveOldBlocks, leaveOldHeaders } from './branches.ts'
import { fill } from './fill.ts'
import { fillScopes } from './fill-scopes.ts'
import { cannotFill, type Unavailable } from './missing.ts'

/** Back-fills a range once. */
export const indexRange = async (work: Work, job: Extract<Job, { type: 'index' }>) => {
  const { source, signal, state, network, lookups } = work
  const head = await source!.head(signal)
  state.head = head
  if (job.scoping && !job.scoping.whole) return indexScopes(work, job, job.scoping, head)
  const floor = lookups.floor()
  const from = blockAt(job.from, head) ?? floor
  const to = blockAt(job.to, head) ?? head
  if (to > head)
    throw refuse('beyond_head', `block ${to} is beyond the head of the chain, which is ${head}: lower --to`)
  if (from > to) throw emptyRange({ from, to }, head)
  if (from < floor)
    throw refuse(
      'blocks_pruned',
      `the blocks below ${floor} were pruned: raise --from, or allow indexing them again with chainsieve prune --network ${network} --before ${from}`,
    )
  state.asked = { from, to }
  // The head of last time may have been reorganised since.
  await leaveOldHeaders(work, job)
  const tip = work.pipeline.held().at(-1)?.to
  if (tip !== undefined && tip <= head) await leaveOldBlocks(work, tip, job)
  const lacking = await fillTwice(signal, before => fill(work, from, to, job.order, before))
  if (job.scoping) await indexScopes(work, job, job.scoping, head)
  if (work.ruleWatcher.waitsForMarks) await work.finality.known(signal)
  if (lacking) throw cannotFill(lacking)
}

/** Looks for what scopes want, up to where the chain is settled. */
const indexScopes = async (work: Work, { finality }: { finality: number }, { scopes }: Scoping, head: number) => {
  const { lookups, log } = work
  await leaveOldHeaders(work, { finality })
  const settled = head - finality
  const all = scopesAt(scopes, head)
  for (const { from, to } of all) if (to !== undefined && from > to) throw emptyRange({ from, to }, head)
  if (all.some(({ to }) => (to ?? head) > settled))
    log.info('Leaves the newest blocks out, since they may be reorganised: a server follows them', { settled })
  const lacking = await fillTwice(work.signal, () => fillScopes(work, scopesFrom(all, lookups.floor()), settled))
  if (lacking) throw cannotFill(lacking)
}

const emptyRange = ({ from, to }: { from: number; to: number }, head: number) =>
  refuse('empty_range', `there are no blocks from ${from} to ${to}: check --from and --to (the head is ${head})`)

/** What no node has may have been there a moment later. */
const fillTwice = async (signal: AbortSignal, fill: (before?: Unavailable) => Promise<Unavailable | undefined>) => {
  const lacking = await fill()
  if (lacking === undefined) return undefined
  await systemClock.sleep(AGAIN_MS, signal)
  return fill(lacking)
}
