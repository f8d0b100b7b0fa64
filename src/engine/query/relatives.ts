import { indexOfTx } from '../documents/records/block.ts'
import { newCallRecord, readCall } from '../documents/records/call.ts'
import { newLogRecord, readLog } from '../documents/records/log.ts'
import { txOfTrace } from '../documents/records/trace.ts'
import type { Reader, ReadHeader, Segment } from '../reader.ts'
import { blockOf, placeOf, positionOf } from '../schema.ts'
import { endOf, ordinalOfPosition } from './places.ts'
import { EMPTY, type OrdinalSet, run } from './sets.ts'

/** What stands in transactions, and has records. */
export type Inside = 'log' | 'trace' | 'call'

export const NO_TRANSACTION = 0xffffffff

/** How logs, traces and calls lie in their transactions. */
export interface Relatives {
  /** Place of the transaction; undefined for a reward. */
  txOf(position: number): number | undefined
  /** Ordinals of those inside of the transaction at a position. */
  inside(header: ReadHeader, transaction: number): OrdinalSet
  /** Ordinals of the transactions of all of a segment's, by their own; `NO_TRANSACTION` for a reward. */
  transactions(segment: Segment, header: ReadHeader): Uint32Array
}

export const createRelatives = (child: Inside, { records, check }: Reader): Relatives => {
  const log = newLogRecord()
  const call = newCallRecord()

  /** Of a record, -1 for a reward. */
  const read = {
    log(bytes: Buffer, start: number): number {
      readLog(bytes, start, log)
      return log.tx
    },
    trace: txOfTrace,
    call(bytes: Buffer, start: number, block: number): number {
      readCall(bytes, start, call)
      if (call.trace < 0) return call.tx
      const view = records.find('trace', positionOf(block, call.trace))
      return view ? txOfTrace(view.bytes, view.start) : -1
    },
  }[child]

  /** All children stand in the order of their transactions. */
  const scan = (header: ReadHeader, block: number, tx: number): OrdinalSet => {
    let [first, last] = [-1, -1]
    records.each(child, positionOf(block, 0), positionOf(block + 1, 0) - 1, (position, { bytes, start }) => {
      if (read(bytes, start, block) !== tx) return last < 0
      if (first < 0) first = position
      last = position
      return true
    })
    if (first < 0) return EMPTY
    return run(ordinalOfPosition(header, child, first), ordinalOfPosition(header, child, last) + 1)
  }

  /** A block's row tells how many logs each transaction has. */
  const logsOf = (header: ReadHeader, number: number, tx: number): OrdinalSet => {
    const block = records.block(number)
    const index = block ? indexOfTx(block, tx) : -1
    if (!block || index < 0) return EMPTY
    const start = endOf(header, 'log', number - header.first - 1)
    const [from, to] = [index === 0 ? 0 : block.logEnds[index - 1]!, block.logEnds[index]!]
    return from < to ? run(start + from, start + to) : EMPTY
  }

  return {
    txOf(position) {
      const view = records.find(child, position)
      const tx = view ? read(view.bytes, view.start, blockOf(position)) : -1
      return tx < 0 ? undefined : tx
    },
    inside: (header, transaction) =>
      (child === 'log' ? logsOf : scan)(header, blockOf(transaction), placeOf(transaction)),
    transactions({ first, last }, header) {
      const ordinals = new Uint32Array(endOf(header, child, last - first))
      for (let number = first; number <= last; number++) {
        check()
        const before = endOf(header, 'tx', number - first - 1)
        let ordinal = endOf(header, child, number - first - 1)
        if (child === 'log') {
          const end = endOf(header, child, number - first)
          const logEnds = records.block(number)?.logEnds ?? NO_ENDS
          for (let i = 0, index = 0; ordinal < end; i++) {
            while (logEnds[index]! <= i) index++
            ordinals[ordinal++] = before + index
          }
          continue
        }
        records.each(child, positionOf(number, 0), positionOf(number + 1, 0) - 1, (_, { bytes, start }) => {
          const tx = read(bytes, start, number)
          ordinals[ordinal++] = tx < 0 ? NO_TRANSACTION : ordinalOfPosition(header, 'tx', positionOf(number, tx))
        })
      }
      return ordinals
    },
  }
}

const NO_ENDS = new Uint32Array(0)
