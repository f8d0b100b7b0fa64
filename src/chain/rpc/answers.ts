import { ChainsieveError, retry } from '../../lib/errors.ts'
import { checkHeader } from '../check/check-block.ts'
import { type RpcBlock, toQuantity } from '../wire.ts'
import type { Endpoint } from './endpoint.ts'

export interface Call {
  method: string
  params: readonly unknown[]
}

export interface RpcError {
  code: number
  message: string
  data?: unknown
}

export type Answer = { result: unknown; error?: undefined } | { error: RpcError }

export const isMissingMethod = ({ code, message }: RpcError): boolean =>
  code === -32601 ||
  code === -32004 ||
  code === -32600 ||
  // Gateways invent codes for it; none is common.
  (/\bmethod\b/i.test(message) && /unsupported|unknown|disabled|not |n't /i.test(message))

export const resultOf = (answer: Answer, what: string, block?: number): unknown => {
  if (answer.error === undefined) return answer.result
  const said = `${what}: ${answer.error.message} (${answer.error.code})`
  throw isMissingBlock(answer.error) ? blockMissing(said, block) : retry('node_error', said)
}

export const BLOCK_MISSING = 'block_missing'

export const blockMissing = (why: string, block?: number): ChainsieveError =>
  new ChainsieveError('retry', BLOCK_MISSING, why, block === undefined ? {} : { details: { block } })

/** Whether a node lacks a block, its receipts, logs, traces or state, temporarily or for good. */
export const isMissingBlock = (error: RpcError): boolean =>
  error.code === PRUNED_HISTORY ||
  (MISSING_BLOCK.some(it => it.test(error.message)) && !isMissingMethod(error) && !isRevert(error))

/** EIP-4444 error code of geth, Reth and Nethermind. */
const PRUNED_HISTORY = 4444
const MISSING_BLOCK: readonly RegExp[] = [
  // geth, Reth: "pruned history unavailable". Erigon: "due to pruning". Parity: "already pruned".
  /\bprun(ed|ing)\b/i,
  // geth and its forks: "missing trie node … state … is not available".
  /missing trie node/i,
  // geth: "required historical state unavailable". Reth: "no state found for block".
  /historical state|no (historical )?state (is )?(available|found)|state histor(y|ies)/i,
  // Nethermind: "No state available for block". Besu: "World state unavailable".
  /\b(world )?state\b.{0,90}(not (available|found)|unavailable)/i,
  // geth: "header not found", "header for hash not found". Parity: "unknown block".
  /header .{0,20}not found|unknown block|future block/i,
  // Erigon: "block not found 123". Sei: "could not find block". Reth: "block not found: 0x…".
  /block.*(not found|beyond|not available|unavailable|in the future|too old)|beyond.*head|(n't|not|unable to) (find|load|locate) (the )?block/i,
  // Avalanche.
  /after last accepted block/i,
  // Nethermind: "Receipt not available for From block 1.".
  /receipts?\b.{0,30}(not (available|found)|unavailable)/i,
  // Erigon: "seek with txNum=1 but data before txNum=2 is not available".
  /data before .{0,40}not available/i,
  // Cosmos chains: "height 1 is not available, lowest height is 2".
  /height .{0,40}not available/i,
  // Infura: "does not have access to archive state". Ankr, Chainstack and others: no archive plan.
  /\barchiv(e|al)\b/i,
]

/** 3 is geth's code, -32015 Parity's; others use words. An unrecognised revert retries for ever. */
export const isRevert = ({ code, message }: { code: number; message: string }): boolean =>
  code === 3 ||
  code === -32015 ||
  /revert|invalid (opcode|jump)|opcode|out of gas|stack (under|over)flow|stack limit|out of bounds|gas uint64 overflow|write protection|call depth|execution aborted|(vm|evm)\b.*(error|exception)|outofgas|gas required exceeds/i.test(
    message,
  )

/** HTTP status, "limit exceeded" of EIP-1474, and codes of large providers. */
export const RATE_LIMIT_CODES = new Set([429, -32005, -32007, -32029, -32097])

export const OTHER_CHAIN = 'node_other_chain'

export const ANSWER_TOO_LARGE = -32003

export const parseBody = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

export const excerpt = (body: string): string | undefined => body.trim().slice(0, 120) || undefined

export const toAnswers = (body: unknown, calls: number): Answer[] | 'too large' | undefined => {
  if (calls === 1) {
    const answer = toAnswer(Array.isArray(body) && body.length === 1 ? body[0] : body)
    return answer && [answer]
  }
  // One error for the whole batch: the node takes no batches, or none of this size.
  if (!Array.isArray(body)) {
    const answer = toAnswer(body)
    return answer?.error === undefined || RATE_LIMIT_CODES.has(answer.error.code) ? answer && [answer] : 'too large'
  }
  const answers: Answer[] = new Array(calls)
  let given = 0
  let good = 0
  for (const item of body) {
    const answer = toAnswer(item)
    if (answer === undefined) return undefined
    if (answer.error !== undefined && RATE_LIMIT_CODES.has(answer.error.code)) return [answer]
    if (answer.error?.code === ANSWER_TOO_LARGE) return 'too large'
    const index = Number((item as { id: unknown }).id) - 1
    if (!(index >= 0 && index < calls) || answers[index] !== undefined) {
      // An error for the whole batch has no id, or that of the first call.
      if (answer.error !== undefined && body.length < calls) continue
      return undefined
    }
    answers[index] = answer
    given++
    if (answer.error === undefined) good++
  }
  if (given === calls && (good > 0 || answers.some(it => it.error?.code !== -32600))) return answers
  return 'too large'
}

export const toAnswer = (item: unknown): Answer | undefined => {
  if (typeof item !== 'object' || item === null) return undefined
  const { result, error } = item as { result?: unknown; error?: Partial<RpcError> | string | null }
  if (error !== undefined && error !== null) {
    if (typeof error === 'string') return { error: { code: 0, message: error } }
    return { error: { ...error, code: Number(error.code ?? 0), message: String(error.message ?? 'no message') } }
  }
  return result === undefined ? undefined : { result }
}

export const firstError = (body: unknown): RpcError | undefined =>
  (Array.isArray(body) ? body : [body]).map(toAnswer).find(it => it?.error !== undefined)?.error

export const statusError = (status: number, said: string, retryAfterMs: number | undefined): ChainsieveError => {
  const tail = said === '' ? '' : `: ${said}`
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (status === 429) return retry('node_rate_limited', `asks to slow down (HTTP 429${tail})`, wait)
  if (status === 402) return retry('node_quota_used', `says that its quota is used up (HTTP 402${tail})`, wait)
  if (status === 401 || status === 403) {
    return retry('node_refused', `refuses access (HTTP ${status}${tail}): check the key or password in its URL`, wait)
  }
  if (status === 404 || status === 405) {
    return retry('node_http_status', `HTTP ${status}${tail}: is this the URL of a JSON-RPC endpoint?`, wait)
  }
  return retry('node_http_status', `HTTP ${status}${tail}`, wait)
}

export interface Head {
  number: number
  hash: string
  parentHash: string
}

/** Linked headers of consecutive blocks. The same request checks the chain id, which may change. */
export const readHeads = async (endpoint: Endpoint, from: number, to: number, signal: AbortSignal): Promise<Head[]> => {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const calls = numbers.map(it => ({ method: GET_BLOCK, params: [toQuantity(it), false] }))
  const [chain, ...answers] = await endpoint.send([CHAIN_ID, ...calls], signal, true)
  const id = toChainId(chain!)
  if (endpoint.chainId !== undefined && id !== endpoint.chainId) {
    throw retry(
      OTHER_CHAIN,
      `answers for chain ${id} now, and for chain ${endpoint.chainId} before: what is behind its URL?`,
    )
  }
  const heads = answers.map((it, i) => toHead(resultOf(it, `block ${numbers[i]}`, numbers[i]), numbers[i]))
  for (let i = 1; i < heads.length; i++) {
    if (heads[i]!.parentHash !== heads[i - 1]!.hash) {
      throw retry(
        'block_unlinked',
        `block ${heads[i]!.number} names ${heads[i]!.parentHash} as its parent, but block ${heads[i - 1]!.number} is ${heads[i - 1]!.hash}`,
      )
    }
  }
  return heads
}

export const readHead = async (endpoint: Endpoint, signal: AbortSignal): Promise<Head> => {
  const [answer] = await endpoint.send([{ method: GET_BLOCK, params: ['latest', false] }], signal, true)
  return toHead(resultOf(answer!, 'the latest block'))
}

export const toHead = (header: unknown, due?: number): Head => {
  if (typeof header !== 'object' || header === null) {
    throw blockMissing(
      `${due === undefined ? 'the latest block' : `block ${due}`}: the node does not have it (null)`,
      due,
    )
  }
  const block = header as RpcBlock
  const number = checkHeader(block)
  if (due !== undefined && number !== due)
    throw retry('block_inconsistent', `block ${due}: the node gave block ${number}`)
  return { number, hash: block.hash, parentHash: block.parentHash }
}

export const toChainId = (answer: Answer): number => {
  const told = resultOf(answer, CHAIN_ID.method)
  const id = typeof told === 'number' || (typeof told === 'string' && told !== '') ? Number(told) : Number.NaN
  if (!Number.isSafeInteger(id)) throw retry('node_bad_answer', 'does not send its chain id as a number')
  return id
}

/** Why a node lacks a method, by the error of a probe; undefined if it has it. */
export const probeMethod = async (
  endpoint: Endpoint,
  signal: AbortSignal,
  urgent: boolean,
  probe: (send: (call: Call) => Promise<Answer>) => Promise<RpcError | undefined>,
): Promise<string | undefined> => {
  const send = async (call: Call) => (await endpoint.send([call], signal, urgent))[0]!
  try {
    const error = await probe(send)
    return error && `${error.message} (${error.code})`
  } catch (error) {
    if (!(error instanceof ChainsieveError) || error.code !== 'node_refused') throw error
    // Gateways also refuse methods by HTTP 401 and 403; other calls still succeed.
    toChainId(await send(CHAIN_ID))
    return error.message
  }
}

export const CHAIN_ID: Call = { method: 'eth_chainId', params: [] }
export const GET_BLOCK = 'eth_getBlockByNumber'
