import type { Range } from '../../lib/ranges.ts'
import type { RpcError } from '../rpc/answers.ts'

export type LogLimit =
  /** Blocks per call. `most` is undefined if the message does not state it. */
  | { of: 'blocks'; most: number | undefined }
  /** Logs per answer. `fits`: number of blocks that would be accepted, if stated. */
  | { of: 'results'; most: number | undefined; fits: number | undefined }
  /** Bytes of an answer, or time: fewer blocks may succeed. */
  | { of: 'work' }
  | { of: 'values'; most: number | undefined }

export type AskedRange = Range

/** Patterns with numbers first, then blocks, then results, since a message may mention all. */
export const limitOf = (error: RpcError, asked: AskedRange): LogLimit | undefined => {
  const text = errorText(error)
  if (RATE_LIMITED.test(text)) return undefined
  if (VALUES.test(text)) return { of: 'values', most: numberIn(VALUES_MOST, text) }
  const isEither = EITHER.test(text)
  const most = isEither ? undefined : firstNumber(BLOCKS_MOST, text)
  if (most !== undefined) return { of: 'blocks', most }
  const fits = suggestedIn(text, asked)
  if (isEither || fits !== undefined || RESULTS.test(text))
    return { of: 'results', most: firstNumber(RESULTS_MOST, text), fits }
  if (BLOCKS.test(text)) return { of: 'blocks', most: knownMost(text, asked) }
  if (WORK.test(text)) return { of: 'work' }
  return undefined
}

/** General codes for invalid requests are ambiguous: only the range may be invalid. */
export const isMissingLogs = ({ code, message }: RpcError): boolean =>
  code === -32601 || (/\bmethod\b/i.test(message) && /unsupported|unknown|disabled|not |n't /i.test(message))

const errorText = ({ message, data }: RpcError): string => {
  if (data === undefined || data === null) return message.slice(0, MOST_TEXT)
  return `${message} ${typeof data === 'string' ? data : JSON.stringify(data)}`.slice(0, MOST_TEXT)
}

const MOST_TEXT = 2_000

/** Rate limits, although their messages contain "limit" and "exceed". */
const RATE_LIMITED =
  /rate.?limit|too many requests|requests? (per|limited|count)|compute units|credits|quota|monthly|daily|throughput|slow down/i

const N = '(\\d[\\d,._]*)\\s?(k\\b|m\\b)?'
const about = (...patterns: string[]) => patterns.map(it => new RegExp(it.replaceAll('N', N), 'i'))

const BLOCKS_MOST = about(
  // Avalanche.
  'requested too many blocks.*maximum is set to N',
  // Cloudflare.
  'max range: N',
  // thirdweb.
  'maximum allowed number of requested blocks is N',
  // QuickNode, 1RPC, Blast: "limited to a 10,000 range". BlockPI: "limited to 1024 block".
  'limited to (?:an? )?N[ -](?:blocks? )?(?:range|block)',
  // Aurora, and the free plan of Alchemy.
  'up to an? N[ -]blocks? range',
  // Blast, paid.
  'exceeds the range allowed for your plan \\(\\d+ > N\\)',
  // Coinbase.
  'limit the query to at most N blocks',
  // publicnode, BNB chain, TRON.
  'max(?:imum)? block range:? N',
  // Hyperliquid, reth.
  'exceeds max(?:imum)? block range(?: of| limit)? N',
  // Swell, Somnia.
  'block range (?:is )?(?:greater|larger|more|wider) than N',
  'block range exceeds N',
  // Merkle.
  'range is too large, max is N',
  // Harmony.
  'query must be smaller than size N',
  // Moonriver.
  'too wide \\(maximum N\\)',
  // Ankr.
  'blocks distance: N',
  // dRPC.
  'ranges over N blocks',
  // Other providers, by common wording.
  'range.{0,40}(?:max(?:imum)?|limit|at most|up to|exceeds)(?: allowed| range| block range| blocks)?(?: is| of|:)? N\\b(?! ?(?:results|logs|events|bytes|mb))',
  '(?:max(?:imum)?|limit|at most|up to|more than|exceeds)(?: allowed)?(?: is| of|:)? N blocks',
)

/** Alchemy: many blocks, or few with any number of results. */
const EITHER = /no limit on the response size/i

const RESULTS_MOST = about(
  'more than N (?:results|logs|events)',
  'max(?:imum)? results:? N',
  'exceeds limit of N',
  'cap of N logs',
  'limit(?:ed)? (?:is |of |to )?N (?:results|logs|events)',
)

const RESULTS =
  /(more than|too many|exceed\w*|limit\w*) .{0,30}(results|logs|events)\b|max results|logs matched by query exceeds|results?.{0,20}(too (large|many)|exceed)/i

const BLOCKS =
  /block range|range (is )?too (large|wide|big)|range limit|(maximum|max) (rpc )?range|too many blocks|exceeds the range|limit\w* .{0,30}range/i

const WORK =
  /response (is |size )?.{0,40}(too (large|big)|exceed|greater|larger)|size (limit )?exceed|too large|time[d -]?out|deadline exceeded|took too long|no backend is currently healthy|query (execution )?(was )?(cancel|abort)|out of memory/i

const VALUES = /(less|fewer|too many|max|exceed\w*|limit\w*) .{0,30}(address(es)?|topics)\b/i
const VALUES_MOST = about('(?:max(?:imum)?|limit|at most|up to|exceeds?|than)\\D{0,30}N')[0]!

/** Suggested ranges: in hex (Alchemy, Infura, zkSync), or decimal (reth and nodes based on it). */
const SUGGESTED = [
  /(?:block range|should work).{0,20}\[\s*(0x[0-9a-f]{1,14})\s*,\s*(0x[0-9a-f]{1,14})\s*\]/i,
  /retry with the range (\d{1,15})\s*-\s*(\d{1,15})/i,
  /"from":"(0x[0-9a-f]{1,14})".*"to":"(0x[0-9a-f]{1,14})"/i,
]

const suggestedIn = (text: string, { from, to }: AskedRange): number | undefined => {
  for (const pattern of SUGGESTED) {
    const found = pattern.exec(text)
    if (found === null) continue
    const blocks = Number(found[2]) - Number(found[1]) + 1
    if (blocks >= 1 && blocks < to - from + 1) return blocks
  }
  return undefined
}

const firstNumber = (patterns: readonly RegExp[], text: string): number | undefined => {
  for (const pattern of patterns) {
    const found = numberIn(pattern, text)
    if (found !== undefined) return found
  }
  return undefined
}

const numberIn = (pattern: RegExp, text: string): number | undefined => {
  const found = pattern.exec(text)
  if (found === null) return undefined
  const unit = found[2]?.toLowerCase()
  const value = Number(found[1]!.replace(/[,._]/g, '')) * (unit === 'k' ? 1_000 : unit === 'm' ? 1_000_000 : 1)
  return Number.isSafeInteger(value) && value >= 1 ? value : undefined
}

/** Limits that messages do not state, but that are the same for everyone. */
const knownMost = (text: string, { from, to }: AskedRange): number | undefined => {
  const blocks = to - from + 1
  const fit = (...known: number[]) => known.find(it => it < blocks)
  // Chainstack: depends on the plan.
  if (/block range limit exceeded/i.test(text)) return fit(10_000, 100)
  // Base.
  if (/block range too large/i.test(text)) return fit(10_000, 2_000)
  // Ankr.
  if (/block range is too wide/i.test(text)) return fit(3_000, 1_000)
  return undefined
}
