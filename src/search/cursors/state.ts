import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'
import { refuse } from '../../lib/errors.ts'
import { isRecord } from '../../lib/record.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { Value } from '../../query/ast.ts'
import type { After, Mark, Place, ResumePoint, Run, Seen } from '../../query/request.ts'
import type { Searching } from '../service.ts'

/**
 * The ids of cursors hold all there is to know to go on: a restart keeps them, and the server keeps next to nothing. They are bytes in
 * base64url: a version, a checksum, and deflated JSON. They give no right that a query would not give, so that they are checked like a body and
 * not signed.
 */
export interface CursorState {
  kind: 'scroll' | 'pit'
  /** Random: by it the server knows a cursor that was closed. */
  key: string
  network: string
  /** Milliseconds since 1970, after which it is closed. */
  until: number
  keepAliveMs: number
  seen: Seen
}

export interface ScrollState extends CursorState {
  kind: 'scroll'
  /** What was asked for, by the URL too; date math counts from `now` on all pages. */
  asked: Pick<Searching, 'entities' | 'parameters'>
  body: string | undefined
  now: number
  /** Pages given so far. */
  page: number
  total: number
  /** The greatest score, where that is not 1. */
  maxScore?: number | undefined
  /** Where the next one begins; undefined where there is none. */
  after: After | undefined
}

export interface PitState extends CursorState {
  kind: 'pit'
  entities: string
  opened: number
  /** Whose dialect it was opened in: in that of Elasticsearch hits show one sort value more. */
  dialect: 'elasticsearch' | 'opensearch'
}

/** How far a reader has come. */
export interface ResumeState extends ResumePoint {
  kind: 'resume'
  /** The network, as it stands in `_index`. */
  index: string
}

const VERSION = 1
const HEAD = 5
/** Bytes of a state: only a forged one is larger. */
const MOST = 2 ** 20

export const encodeState = (state: ScrollState | PitState | ResumeState): string => {
  const body = deflateRawSync(
    JSON.stringify(state, (_, value) => (typeof value === 'bigint' ? { big: `${value}` } : value)),
  )
  const bytes = Buffer.allocUnsafe(HEAD + body.length)
  bytes[0] = VERSION
  bytes.writeUInt32LE(crc32(body), 1)
  body.copy(bytes, HEAD)
  return bytes.toString('base64url')
}

export const decodeScroll = (id: string): ScrollState => {
  const state = decodeState(id)
  if (isScroll(state)) return state
  throw refuse('illegal_argument_exception', 'Cannot parse scroll id: send the _scroll_id of the last answer.')
}

export const decodePit = (id: string): PitState => {
  const state = decodeState(id)
  if (isPit(state)) return state
  throw refuse('illegal_argument_exception', `invalid id: [${id.slice(0, 80)}] is not a point in time of this server.`)
}

/** Undefined where it is none. */
export const decodeResume = (token: string): ResumeState | undefined => {
  const state = decodeState(token)
  return isResume(state) ? state : undefined
}

/** Undefined if it is not such an id. */
const decodeState = (id: string): unknown => {
  if (!/^[A-Za-z0-9_-]+={0,2}$/.test(id)) return undefined
  const bytes = Buffer.from(id, 'base64url')
  const body = bytes.subarray(HEAD)
  if (bytes.length <= HEAD || bytes[0] !== VERSION || bytes.readUInt32LE(1) !== crc32(body)) return undefined
  try {
    return JSON.parse(inflateRawSync(body, { maxOutputLength: MOST }).toString(), (_, value) =>
      isRecord(value) && typeof value.big === 'string' && /^-?\d{1,80}$/.test(value.big) ? BigInt(value.big) : value,
    )
  } catch {
    return undefined
  }
}

type Fields = Record<string, unknown>

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value)
const isText = (value: unknown): value is string => typeof value === 'string'

const isCursor = (value: unknown, kind: CursorState['kind']): value is Fields =>
  isRecord(value) &&
  value.kind === kind &&
  [value.key, value.network].every(isText) &&
  [value.until, value.keepAliveMs].every(isNumber) &&
  isSeen(value.seen)

const isScroll = (value: unknown): value is ScrollState & Fields =>
  isCursor(value, 'scroll') &&
  isRecord(value.asked) &&
  areEntities(value.asked.entities) &&
  (value.asked.parameters === undefined || isListOf(value.asked.parameters, isParameter)) &&
  (value.maxScore === undefined || typeof value.maxScore === 'number') &&
  (value.body === undefined || isText(value.body)) &&
  [value.now, value.page, value.total].every(isNumber) &&
  (value.after === undefined || isAfter(value.after))

const isPit = (value: unknown): value is PitState & Fields =>
  isCursor(value, 'pit') &&
  areEntities(value.entities) &&
  isNumber(value.opened) &&
  (value.dialect === 'elasticsearch' || value.dialect === 'opensearch')

const isResume = (value: unknown): value is ResumeState =>
  isRecord(value) &&
  value.kind === 'resume' &&
  isText(value.index) &&
  isPlace(value.place) &&
  isListOf(value.marks, isMark)

const isKind = (value: unknown): value is Kind => KINDS.includes(value as Kind)
const areEntities = (value: unknown): boolean =>
  isText(value) && value.length < 1_000 && value.split(',').every(name => name === '' || isKind(name))

const MOST_BLOCKS = 10_000
const isSeen = (value: unknown): value is Seen =>
  isRecord(value) && isListOf(value.runs, isRun) && isListOf(value.marks, isMark)
const isListOf = <T>(value: unknown, is: (one: unknown) => one is T): value is T[] =>
  Array.isArray(value) && value.length <= MOST_BLOCKS && value.every(is)
const isRun = (value: unknown): value is Run => Array.isArray(value) && value.length === 2 && value.every(isNumber)
const isParameter = (value: unknown): value is readonly [string, string] =>
  Array.isArray(value) && value.length === 2 && value.every(isText)
const isMark = (value: unknown): value is Mark =>
  Array.isArray(value) && value.length === 2 && isNumber(value[0]) && isText(value[1])

const isAfter = (value: unknown): value is After =>
  isRecord(value) && isListOf(value.values, isValue) && isPlace(value.place)
const isValue = (value: unknown): value is Value | null =>
  value === null || ['bigint', 'number', 'boolean', 'string'].includes(typeof value)
const isPlace = (value: unknown): value is Place =>
  isRecord(value) && isKind(value.kind) && isNumber(value.position) && value.position >= -1
