import type { RawBlock } from '../chain/wire.ts'
import { renderEvent } from '../decode/render.ts'
import type { DecodedArg, EventAbi } from '../decode/types.ts'
import type { Document } from './document.ts'
import * as show from './show.ts'

/** What documents say of the block that holds them. */
export interface BlockParts {
  number: number
  hash: string
  /** Seconds since 1970. */
  time: number
  datetime: string
}

export const blockParts = (number: number, hash: string, time: number): BlockParts => ({
  number,
  hash,
  time,
  datetime: show.datetime(time),
})

/** Where a log stands, taken from wherever it is kept; hex in lower case, the address checksummed. */
export interface LogPlace {
  block: BlockParts
  transactionHash: string
  /** Places in the block. */
  transactionIndex: number
  logIndex: number
  address: string
}

/** What a log means. */
export interface EventParts {
  event: EventAbi
  /** Null where the log could not be decoded; `error` says why. */
  args: readonly DecodedArg[] | null
  error: string | null
  probability: number
  /** Decimals of the emitting token, null where unknown or none of the arguments is an integer. */
  decimals: number | null
}

export const eventDocument = (
  log: LogPlace,
  { event, args, error, probability, decimals }: EventParts,
  big: show.BigIntegers,
): Document => {
  const { block, transactionHash } = log
  return {
    _id: show.eventId(transactionHash, log.logIndex),
    _routing: block.hash,
    _parent: transactionHash,
    _source: {
      event: event.name,
      args: args ? args.map(arg => show.argument(arg, decimals, big)) : [],
      logIndex: show.quantity(log.logIndex, big),
      transactionIndex: show.quantity(log.transactionIndex, big),
      transactionHash,
      address: log.address,
      blockHash: block.hash,
      blockNumber: show.quantity(block.number, big),
      error,
      str: args ? renderEvent(event, args) : null,
      timestamp: block.datetime,
      probability,
    },
    decoding: { inputs: event.inputs, decimals },
  }
}

/** Whether decimals say anything of these arguments. */
export const hasInteger = (args: readonly DecodedArg[]): boolean => args.some(({ int }) => int !== null)

/** Places in the block of transactions and of logs, in order. */
export interface Places {
  txs: Uint32Array
  logs: Uint32Array
}
/** The places of the transactions and logs of an excerpt, or of a partial block; undefined for a complete block, where they follow each other. */
export const placesOf = ({ block, receipts, partial }: RawBlock): Places | undefined => {
  const last = receipts.length - 1
  if (last < 0 || (!partial && Number(block.transactions[last]!.transactionIndex) === last)) return undefined
  return {
    txs: Uint32Array.from(block.transactions, tx => Number(tx.transactionIndex)),
    logs: Uint32Array.from(receipts.flatMap(({ logs }) => logs.map(log => Number(log.logIndex)))),
  }
}
