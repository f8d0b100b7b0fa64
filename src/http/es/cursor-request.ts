import { messageOf, refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import type { SearchService } from '../../search/service.ts'
import { checkNetwork } from '../../search/target.ts'
import { readBody } from '../body.ts'
import type { Context } from '../context.ts'

/** The network that a path without entities is about. */
export const networkOf = (c: Context, service: Pick<SearchService, 'networks'>): string => {
  const { technology, blockchain, network: name } = c.req.param() as Record<string, string>
  const network = `${technology}/${blockchain}/${name}`
  checkNetwork(network, service.networks(network))
  return network
}

export type Members = ReadonlyMap<string, unknown>

/** The members of a small body, each of which has to be known; none where there is no body. */
export const readKeys = async (c: Context, limits: Limits, known: readonly string[]): Promise<Members> => {
  const body = await readBody(c, limits)
  if (body === undefined) return new Map()
  const value = parsed(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('illegal_argument_exception', 'Failed to parse request body: it must be a JSON object.')
  const members = new Map<string, unknown>(Object.entries(value))
  for (const name of members.keys())
    if (!known.includes(name))
      throw refuse(
        'illegal_argument_exception',
        `Unknown parameter [${name.slice(0, 80)}] in request body or parameter is of the wrong type. Known are ${known.join(', ')}.`,
      )
  return members
}

const parsed = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    throw refuse('illegal_argument_exception', `Failed to parse request body: ${messageOf(error)}`, error)
  }
}

/** Text, undefined where there is none. */
export const textOf = (value: unknown, name: string): string | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw refuse('illegal_argument_exception', `[${name}] must be text.`)
}

/** A text, or a list of texts. */
export const textsOf = (value: unknown, name: string): string[] => {
  if (value === undefined || value === null) return []
  const list = Array.isArray(value) ? value : [value]
  return list.map(one => textOf(one, name) ?? '')
}
