import type { RawBlock } from '../../chain/wire.ts'
import { tokensIn, tokensOf } from '../../documents/tokens.ts'
import type { BlockFacts } from '../decoding/builders/messages.ts'
import type { Work } from '../job-context.ts'

/** Fetches facts about the contracts and tokens in these blocks that only the chain knows. */
export const prefetch = async (
  { lookups, contracts, links, tokens, state, signal }: Work,
  blocks: readonly RawBlock[],
) => {
  await lookups.prefetch(blocks)
  await contracts.prefetch(blocks, signal)
  await links.prefetch(blocks, state.head ?? -1, signal)
  const shown = blocks.flatMap(raw => [...tokensIn(raw, contracts.in(raw)).keys()])
  await tokens.prefetch(
    shown.map(address => address.slice(2)),
    signal,
  )
}

/** The same of blocks that other threads have read. There is no ABI of single contracts then. */
export const prefetchFor = async ({ contracts, links, tokens, signal }: Work, blocks: readonly BlockFacts[]) => {
  await contracts.prefetchCodes(
    blocks.flatMap(({ creations }) => creations),
    signal,
  )
  for (const { number, upgrades } of blocks) links.note(number, upgrades)
  const shown = blocks.flatMap(({ emitters, creations, number }) => [
    ...tokensOf(emitters, contracts.of(creations, number)).keys(),
  ])
  await tokens.prefetch(
    shown.map(address => address.slice(2)),
    signal,
  )
}
