import type { Log } from '../../lib/log.ts'
import type { Limits } from '../../limits/index.ts'
import type { Parameters } from '../../query/parameters.ts'
import type { SearchService } from '../../search/service.ts'
import type { Context } from '../context.ts'
import type { Tag } from '../openapi/operations.ts'
import type { Answers, Body } from '../openapi/schema.ts'
import type { ANSWER_SHAPES } from '../shapes/answers.ts'
import type { Names } from './names.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** One endpoint of `/{technology}/{blockchain}/{network}/es`. Whatever takes GET takes HEAD. */
export interface Endpoint {
  /**
   * Below `…/es`: `{index}/_search`. `{index}` stands for names of indexes, `{type}` for the kind where old clients repeat it, `{document}`
   * for an id that is no name of an endpoint, `{id}`, `{name}` and `{names}` for anything.
   */
  paths: readonly string[]
  methods: readonly Method[]
  /** What it answers, for the reference docs. */
  doc: string
  /** What is not as in Elasticsearch, for the reference docs. */
  limit?: string
  /** Whether several networks may stand in the path. */
  several?: true
  /** URL parameters that it takes beside those that all take. */
  parameters?: readonly string[]
  /** Where the description lists it. */
  tag?: Tag
  body?: Body
  /** All of them, or the name of the schema of the one with status 200. */
  answers: Answers | keyof typeof ANSWER_SHAPES
  handle(call: Call): Told | Response | Promise<Told | Response>
}

/** What an endpoint is given. */
export interface Call {
  c: Context
  service: SearchService
  limits: Limits
  log: Log
  /** `technology/blockchain/network`; it can be searched. Several, where the endpoint takes them, stand with commas between them. */
  network: string
  /** Segments of the path by the names that stand for them. */
  path: ReadonlyMap<string, string>
  /** URL parameters, the last one of each name. */
  parameters: ReadonlyMap<string, string>
  /** The same as they came. */
  pairs: Parameters
  /** What counts and looks up the names that the request lists. */
  names: Names
  /** The parts of the answer to keep. */
  filterPath: readonly string[]
}

/** JSON that is not text yet. */
export interface Told {
  value: unknown
  status?: number
}

export const told = (value: unknown, status = 200): Told => ({ value, status })

/** Members of an answer that a search of one shard gives. */
export const SHARDS = { total: 1, successful: 1, skipped: 0, failed: 0 }
/** The same of what asks indexes. */
export const ASKED_SHARDS = { total: 1, successful: 1, failed: 0 }
