import * as v from 'valibot'
import { messageOf } from '../../lib/errors.ts'
import { topicOf } from '../../scopes/event.ts'
import { fullName } from '../chains.ts'
import { count, integer, type Kind, toggle } from './plain.ts'

/** A network's name, `technology/blockchain/network`, or a chain's short one. It names files and URLs: lower case, no other separators. */
export const network: Kind<string> = {
  schema: v.pipe(
    v.string(),
    v.transform(fullName),
    v.regex(/^[a-z0-9][a-z0-9_.-]{0,63}(\/[a-z0-9][a-z0-9_.-]{0,63}){2}$/),
  ),
  takes:
    'technology/blockchain/network in lower case, such as ethereum/ethereum/mainnet, or the short name of a chain, such as base',
  placeholder: 'T/B/N',
}

/** Whether transactions of scopes are indexed, and whether blocks may be read for it. */
export const transactions: Kind<boolean | 'read-blocks'> = {
  schema: v.union([v.literal('read-blocks'), toggle.schema]),
  takes: 'true, false or read-blocks',
  placeholder: 'BOOL|read-blocks',
}

/** How deep reorganisations are followed: blocks, or down to the block that nodes tell to be finalized. */
export const finality: Kind<number | 'finalized'> = {
  schema: v.union([v.literal('finalized'), count(1, 100_000).schema]),
  takes: 'an integer from 1 to 100000, or finalized',
  placeholder: 'N|finalized',
}

/** A block by its number, or counted back from the head at the time of the start. */
export type BlockPoint = { block: number } | { latest: number }

export const blockPoint: Kind<BlockPoint> = {
  schema: v.union([
    v.pipe(
      integer,
      v.minValue(0),
      v.transform(block => ({ block })),
    ),
    v.pipe(
      v.string(),
      v.regex(/^latest(-\d{1,15})?$/),
      v.transform(text => ({ latest: Number(text.slice('latest-'.length)) })),
    ),
  ]),
  takes: 'a block number, latest, or latest-K for K blocks before the head',
  placeholder: 'N|latest-K',
}

/** Lower-case. */
export const address: Kind<string> = {
  schema: v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/), v.toLowerCase()),
  takes: 'an address, 0x and 40 hex digits',
  placeholder: 'ADDRESS',
}

/** The first topic of an event. */
export const event: Kind<string> = {
  schema: v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return topicOf(dataset.value)
      } catch (error) {
        addIssue({ message: messageOf(error) })
        return NEVER
      }
    }),
  ),
  takes: 'an event, such as Transfer(address,address,uint256), or its first topic',
  placeholder: 'EVENT',
  explains: true,
}
