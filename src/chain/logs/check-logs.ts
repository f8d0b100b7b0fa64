import type { Limits } from '../../limits/index.ts'
import { checkShape, inconsistent, MAX_PLACES } from '../check/check-block.ts'
import { LOGS } from '../check/schema.ts'
import { describeValue } from '../check/shape.ts'
import type { Endpoint } from '../rpc/endpoint.ts'
import type { RpcLog } from '../wire.ts'
import type { Fits } from './log-filter.ts'
import type { AskedRange } from './log-limit.ts'

export interface BlockLogs {
  number: number
  hash: string
  logs: RpcLog[]
}

/** Throws `retry('block_inconsistent')` unless each log matches the request and occurs once. */
export const checkLogs = (
  answer: unknown,
  asked: AskedRange,
  fits: Fits,
  where: string,
  limits: Limits,
): BlockLogs[] => {
  checkShape(LOGS, 'logs', answer, where, limits)
  const blocks = new Map<number, BlockLogs>()
  for (const log of answer as RpcLog[]) {
    const number = Number(log.blockNumber)
    const fault = !(number >= asked.from && number <= asked.to)
      ? `is of block ${describeValue(log.blockNumber)}`
      : log.removed === true
        ? 'is marked as removed'
        : !fits(log)
          ? `is of contract ${log.address} with the first topic ${describeValue(log.topics[0])}, which were not asked for`
          : Number(log.logIndex) >= MAX_PLACES || Number(log.transactionIndex) >= MAX_PLACES
            ? 'has a place that no block has'
            : undefined
    if (fault !== undefined) throw inconsistent(`${where}: log ${describeValue(log.logIndex)} ${fault}`)
    const block = blocks.get(number)
    if (block === undefined) blocks.set(number, { number, hash: log.blockHash, logs: [log] })
    else {
      if (block.hash !== log.blockHash)
        throw inconsistent(`${where}: logs of block ${number} name ${block.hash} and ${log.blockHash} as their block`)
      block.logs.push(log)
    }
  }
  const found = [...blocks.values()].sort((a, b) => a.number - b.number)
  for (const block of found) checkLogOrder(block, where)
  return found
}

/** Some nodes return logs in another order, which is accepted. */
const checkLogOrder = ({ number, logs }: BlockLogs, where: string) => {
  logs.sort((a, b) => Number(a.logIndex) - Number(b.logIndex))
  for (let i = 1; i < logs.length; i++) {
    const [before, log] = [logs[i - 1]!, logs[i]!]
    if (Number(before.logIndex) === Number(log.logIndex))
      throw inconsistent(`${where}: block ${number} has log ${describeValue(log.logIndex)} twice`)
    if (
      Number(before.transactionIndex) > Number(log.transactionIndex) ||
      (before.transactionIndex === log.transactionIndex) !== (before.transactionHash === log.transactionHash)
    )
      throw inconsistent(
        `${where}: log ${describeValue(log.logIndex)} of block ${number} is of another transaction than is due`,
      )
  }
}

export const isSameLog = (a: RpcLog, b: RpcLog): boolean =>
  Number(a.logIndex) === Number(b.logIndex) &&
  a.blockHash === b.blockHash &&
  a.transactionHash === b.transactionHash &&
  a.address.toLowerCase() === b.address.toLowerCase() &&
  a.data.toLowerCase() === b.data.toLowerCase() &&
  a.topics.length === b.topics.length &&
  a.topics.every((topic, i) => topic.toLowerCase() === b.topics[i]!.toLowerCase())

export const areSameLogs = (a: readonly RpcLog[], b: readonly RpcLog[]): boolean =>
  a.length === b.length && a.every((log, i) => isSameLog(log, b[i]!))

export const logsIn = (blocks: readonly BlockLogs[]): number => blocks.reduce((sum, { logs }) => sum + logs.length, 0)

export const mergeLogs = (parts: readonly BlockLogs[][], where: string): BlockLogs[] => {
  if (parts.length === 1) return parts[0]!
  const blocks = new Map<number, BlockLogs>()
  for (const part of parts.flat()) {
    const block = blocks.get(part.number)
    if (block === undefined) blocks.set(part.number, { ...part, logs: [...part.logs] })
    else {
      if (block.hash !== part.hash)
        throw inconsistent(`${where}: logs of block ${part.number} name ${block.hash} and ${part.hash} as their block`)
      block.logs.push(...part.logs)
    }
  }
  for (const { logs } of blocks.values()) logs.sort((a, b) => Number(a.logIndex) - Number(b.logIndex))
  return [...blocks.values()].sort((a, b) => a.number - b.number)
}

export interface Claim extends BlockLogs {
  by: Endpoint
}

export interface LogFinding {
  number: number
  /** Claims of nodes about its logs. Unless there is exactly one, the block itself is read. */
  claims: Claim[]
  isDoubted?: true
}

/** Compares findings of two nodes: one claim per block if they agree, otherwise two. */
export function* compareFindings(
  ours: readonly LogFinding[],
  by: Endpoint,
  theirs: readonly LogFinding[],
  other: Endpoint,
): Generator<LogFinding> {
  const left = new Map(theirs.map(it => [it.number, it]))
  for (const { number, claims } of ours) {
    const [mine] = claims
    const yours = left.get(number)?.claims
    left.delete(number)
    if (mine === undefined || yours?.length === 0) yield { number, claims: [] }
    else if (yours === undefined) yield { number, claims: [mine, { ...mine, logs: [], by: other }] }
    else {
      const isSame = mine.hash === yours[0]!.hash && areSameLogs(mine.logs, yours[0]!.logs)
      yield { number, claims: isSame ? claims : [mine, yours[0]!] }
    }
  }
  for (const { number, claims } of left.values())
    yield { number, claims: claims.flatMap(it => [it, { ...it, logs: [], by }]) }
}
