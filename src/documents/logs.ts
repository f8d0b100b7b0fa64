import type { RawBlock } from '../chain/wire.ts'
import { renderEvent } from '../decode/render.ts'
import type { DecodedArg, EventAbi } from '../decode/types.ts'
import type { Document } from './document.ts'
import * as show from './show.ts'

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
  datetime: show.formatDatetime(time),
})

/** Hex in lower case, the address checksummed. */
export interface LogPlace {
  block: BlockParts
  transactionHash: string
  transactionIndex: number
  logIndex: number
  address: string
}

export interface EventParts {
  event: EventAbi
  args: readonly DecodedArg[] | null
  error: string | null
  probability: number
  /** Decimals of the emitting token; null if unknown, or no argument is an integer. */
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
      args: args ? args.map(arg => show.formatArgument(arg, decimals, big)) : [],
      logIndex: show.formatQuantity(log.logIndex, big),
      transactionIndex: show.formatQuantity(log.transactionIndex, big),
      transactionHash,
      address: log.address,
      blockHash: block.hash,
      blockNumber: show.formatQuantity(block.number, big),
      error,
      str: args ? renderEvent(event, args) : null,
      timestamp: block.datetime,
      probability,
    },
    decoding: { inputs: event.inputs, decimals },
  }
}

export const hasInteger = (args: readonly DecodedArg[]): boolean => args.some(({ int }) => int !== null)

export interface BlockPlaces {
  txs: Uint32Array
  logs: Uint32Array
}
/** Places in an excerpt or a partial block; undefined for complete blocks, which have no gaps. */
export const findBlockPlaces = ({ block, receipts, partial }: RawBlock): BlockPlaces | undefined => {
  const last = receipts.length - 1
  if (last < 0 || (!partial && Number(block.transactions[last]!.transactionIndex) === last)) return undefined
  return {
    txs: Uint32Array.from(block.transactions, tx => Number(tx.transactionIndex)),
    logs: Uint32Array.from(receipts.flatMap(({ logs }) => logs.map(log => Number(log.logIndex)))),
  }
}
