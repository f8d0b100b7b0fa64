import { readSource } from '../delivery/payload.ts'
import { refuse } from '../lib/errors.ts'
import { gapsIn } from '../lib/ranges.ts'
import type { RuleInput } from '../rules/rule.ts'
import { type Simulation, type SimulationRange, searchOf } from '../rules/search.ts'
import { networkOf } from '../rules/store.ts'
import type { Pool } from '../search/pool.ts'
import type { Asking } from '../search/service.ts'

export interface SimulateOptions {
  pool: Pick<Pool, 'ranges' | 'request'>
  /** What is stored or configured. */
  networks(): readonly string[]
}

const HITS = 10

/** What the rule would have found in what is stored. */
export const simulate = async (
  { pool, networks }: SimulateOptions,
  rule: RuleInput,
  { fromBlock, toBlock, size = HITS }: SimulationRange,
  asking: Pick<Asking, 'account' | 'signal'>,
): Promise<Simulation> => {
  const network = networkOf(rule)
  if (!networks().includes(network))
    throw refuse(
      'index_not_found_exception',
      `${network} is neither stored nor configured here: there is nothing to search.`,
    )
  const ranges = await pool.ranges(network)
  // One end that is given may lie outside of what is stored.
  const from = fromBlock ?? Math.min(ranges[0]?.from ?? 0, toBlock ?? Number.POSITIVE_INFINITY)
  const to = toBlock ?? Math.max(ranges.at(-1)?.to ?? 0, from)
  const request = searchOf(rule.config, { from, to, order: 'desc', size })
  const holes = gapsIn(ranges, from, to)
  const whole = { fromBlock: from, toBlock: to, complete: holes.length === 0, holes }
  if (ranges.length === 0) return { total: 0, ...whole, hits: [] }
  const { status, body } = await pool.request({ network, request, ...asking })
  const text = Buffer.from(body as Uint8Array).toString()
  if (status !== 200) throw new Error(`the search of a rule was answered ${status}: ${text}`)
  const { hits } = readSource(text) as unknown as { hits: { total: number; hits: unknown[] } }
  return { total: hits.total, ...whole, hits: hits.hits }
}
