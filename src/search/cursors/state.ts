import { createHmac, timingSafeEqual } from 'node:crypto'
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { isRecord } from '../../lib/arrays.ts'
import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { After, BlockMark, ChainPlace, ResumePoint, SeenBlocks } from '../../query/request.ts'
import type { SearchParams } from '../service.ts'

/**
 * Ids of scrolls and points in time contain the whole state: they survive restarts and take almost
 * no memory. An HMAC keeps the server from unpacking or searching foreign data. Base64url of:
 * version, signature of the rest, length of the head, head (JSON, enough to close a cursor), and
 * deflated JSON. Raise the version when the members of a state change.
 */
export interface CursorHead {
  kind: 'scroll' | 'pit'
  /** Random; identifies closed cursors. */
  key: string
  network: string
  /** Milliseconds since 1970, after which it is closed. */
  until: number
}

export interface CursorState extends CursorHead {
  keepAliveMs: number
  seen: SeenBlocks
}

export interface ScrollState extends CursorState {
  kind: 'scroll'
  /** The search, with its URL parameters; date math counts from `now` on all pages. */
  asked: Pick<SearchParams, 'entities' | 'parameters'>
  body: string | undefined
  now: number
  /** Pages given so far. */
  page: number
  total: number
  /** The greatest score, if it is not 1. */
  maxScore?: number | undefined
  /** Start of the next page; undefined without one. */
  after: After | undefined
}

export interface PitState extends CursorState {
  kind: 'pit'
  entities: string
  opened: number
  /** The dialect that opened it: in Elasticsearch's, hits show one sort value more. */
  dialect: 'elasticsearch' | 'opensearch'
}

/** Position that a reader has reached. */
export interface ResumeState extends ResumePoint {
  kind: 'resume'
  /** The network, as it stands in `_index`. */
  index: string
}

/** The key that signs ids, and limits of their length. */
export interface Signing {
  key: Buffer
  limits: Limits
}

const STATE_VERSION = 2
/** Bytes of the truncated SHA-256. */
const SIGNATURE = 16
const SIGNED = 1 + SIGNATURE
const HEAD_START = SIGNED + 2

export const encodeState = (
  { kind, key, network, until, ...rest }: ScrollState | PitState,
  signing: Buffer,
): string => {
  const head = Buffer.from(JSON.stringify({ kind, key, network, until } satisfies CursorHead))
  const body = deflateRawSync(toJson(rest))
  const bytes = Buffer.concat([Buffer.alloc(HEAD_START), head, body])
  bytes[0] = STATE_VERSION
  bytes.writeUInt16LE(head.length, SIGNED)
  signState(bytes, signing).copy(bytes, 1)
  return bytes.toString('base64url')
}

const signState = (bytes: Buffer, key: Buffer): Buffer =>
  createHmac('sha256', key).update(bytes.subarray(0, 1)).update(bytes.subarray(SIGNED)).digest().subarray(0, SIGNATURE)

/** Most bytes of a state: a scroll holds its query, in which each character may take three. */
const mostBytes = ({ cursorQuery }: Limits): number => 4 * cursorQuery + 2 ** 20

interface SignedState {
  head: CursorHead
  body: Buffer
}

/** Refuses malformed ids; undefined if another key signed it. Verifies before it unpacks. */
const openSigned = (kind: CursorHead['kind'], id: string, { key, limits }: Signing): SignedState | undefined => {
  const isWellFormed = id.length <= 2 * mostBytes(limits) && /^[A-Za-z0-9_-]+={0,2}$/.test(id)
  const bytes = Buffer.from(isWellFormed ? id : '', 'base64url')
  const version = bytes[0] ?? 0
  if (bytes.length <= HEAD_START || version < 1 || version > STATE_VERSION) throw malformed(kind, id)
  if (!timingSafeEqual(bytes.subarray(1, SIGNED), signState(bytes, key))) return undefined
  const end = HEAD_START + bytes.readUInt16LE(SIGNED)
  const head = JSON.parse(bytes.subarray(HEAD_START, end).toString()) as CursorHead
  if (head.kind !== kind) throw malformed(kind, id)
  return { head, body: bytes.subarray(end) }
}

const malformed = (kind: CursorHead['kind'], id: string) =>
  kind === 'scroll'
    ? refuse('illegal_argument_exception', 'Cannot parse scroll id: send the _scroll_id of the last answer.')
    : refuse('illegal_argument_exception', `invalid id: [${id.slice(0, 80)}] is not a point in time of this server.`)

/** Reads the head without unpacking the rest; undefined if another server signed the id. */
export const decodeHead = (kind: CursorHead['kind'], id: string, signing: Signing): CursorHead | undefined =>
  openSigned(kind, id, signing)?.head

export const decodeScroll = (id: string, signing: Signing): ScrollState =>
  decodeState('scroll', id, signing) as ScrollState

export const decodePit = (id: string, signing: Signing): PitState => decodeState('pit', id, signing) as PitState

const decodeState = (kind: CursorHead['kind'], id: string, signing: Signing): object => {
  const signed = openSigned(kind, id, signing)
  if (!signed) throw unknownId(id)
  return { ...signed.head, ...(fromDeflated(signed.body, mostBytes(signing.limits)) as object) }
}

const unknownId = (id: string) =>
  refuse(
    'search_context_missing_exception',
    `No search context found for id [${id.slice(0, 40)}…]: neither this server nor one that shares its cluster gave this id, or the key in its data folder was made anew since. Open another one.`,
  )

/** A reader's token, unsigned: readers keep it indefinitely, and it costs the server nothing. */
export const encodeResume = (state: ResumeState): string => {
  const body = deflateRawSync(toJson(state))
  const bytes = Buffer.allocUnsafe(RESUME_HEAD + body.length)
  bytes[0] = RESUME_VERSION
  bytes.writeUInt32LE(crc32(body), 1)
  body.copy(bytes, RESUME_HEAD)
  return bytes.toString('base64url')
}

const RESUME_VERSION = 1
/** The version and a checksum. */
const RESUME_HEAD = 5
/** Bytes of a token's state: some hundred marks. */
const MOST_RESUME = 2 ** 16

/** Undefined for an invalid token. */
export const decodeResume = (token: string): ResumeState | undefined => {
  if (token.length > MOST_RESUME || !/^[A-Za-z0-9_-]+={0,2}$/.test(token)) return undefined
  const bytes = Buffer.from(token, 'base64url')
  const body = bytes.subarray(RESUME_HEAD)
  if (bytes.length <= RESUME_HEAD || bytes[0] !== RESUME_VERSION || bytes.readUInt32LE(1) !== crc32(body))
    return undefined
  try {
    const state = fromDeflated(body, MOST_RESUME)
    return isResume(state) ? state : undefined
  } catch {
    return undefined
  }
}

const toJson = (state: object): string =>
  JSON.stringify(state, (_, value) => (typeof value === 'bigint' ? { big: `${value}` } : value))

const fromDeflated = (bytes: Buffer, most: number): unknown =>
  JSON.parse(inflateRawSync(bytes, { maxOutputLength: most }).toString(), (_, value) =>
    isRecord(value) && typeof value.big === 'string' && /^-?\d{1,80}$/.test(value.big) ? BigInt(value.big) : value,
  )

const isResume = (value: unknown): value is ResumeState =>
  isRecord(value) &&
  value.kind === 'resume' &&
  typeof value.index === 'string' &&
  isChainPlace(value.place) &&
  Array.isArray(value.marks) &&
  value.marks.every(isMark)

const isWholeNumber = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value)
const isMark = (value: unknown): value is BlockMark =>
  Array.isArray(value) && value.length === 2 && isWholeNumber(value[0]) && typeof value[1] === 'string'
const isChainPlace = (value: unknown): value is ChainPlace =>
  isRecord(value) && KINDS.includes(value.kind as Kind) && isWholeNumber(value.position) && value.position >= -1
