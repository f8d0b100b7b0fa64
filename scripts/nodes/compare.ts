import type { Soaked } from '../soak/server.ts'
import type { Reading } from './reading.ts'

const KINDS = ['block', 'tx', 'log', 'event'] as const

/** What differs between the documents of a network and the chain as it was read, in words, and how many values were compared. */
export const compareDocuments = async (server: Soaked, network: string, reading: Reading, from: number, to: number) => {
  const findings: string[] = []
  let values = 0
  for (const kind of KINDS) {
    const due = [...reading[kind]].filter(([id]) => within(reading.numbers.get(id)!, from, to))
    const field = kind === 'block' ? 'number.num' : 'blockNumber.num'
    const body = { query: { range: { [field]: { gte: from, lte: to } } }, size: -1 }
    const answer = await server.ask(`/${network}/es/${kind}/search/`, body)
    const { hits } = (await answer.json()) as { hits: { hits: { _id: string; _source: Record<string, unknown> }[] } }
    const held = new Map(hits.hits.map(({ _id, _source }) => [_id, _source]))
    const lost = due.filter(([id]) => !held.has(id))
    if (lost.length > 0)
      findings.push(`${network}: ${lost.length} of ${due.length} ${kind} are missing: ${lost[0]![0]}`)
    const ids = new Set(due.map(([id]) => id))
    // Logs whose declaration is known to nobody are no events, but the registry knows more than the contracts here.
    const more = kind === 'event' ? [] : [...held.keys()].filter(id => !ids.has(id))
    if (more.length > 0) findings.push(`${network}: ${more.length} ${kind} are not of the chain: ${more[0]}`)
    if (held.size !== hits.hits.length) findings.push(`${network}: some ${kind} are there twice`)
    for (const [id, fields] of due) {
      const source = held.get(id)
      if (source === undefined) continue
      for (const [path, expected] of Object.entries(fields)) {
        values++
        const told = path === 'args' ? argsOf(at(source, path)) : at(source, path)
        const wanted = path === 'args' ? argsOf(expected) : expected
        if (JSON.stringify(told ?? null) !== JSON.stringify(wanted ?? null))
          findings.push(`${network}: ${kind} ${id}: ${path} is ${show(told)}, not ${show(wanted)}`)
      }
    }
  }
  return { findings, values }
}

const within = (number: number, from: number, to: number) => number >= from && number <= to
const at = (source: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], source)
const show = (value: unknown) => JSON.stringify(value)?.slice(0, 200)

interface Arg {
  name: string
  type?: string
  hex?: unknown
  value?: { type: string; hex: unknown }
}

/** Texts and lists by their type alone: viem shows them as values, and documents as they are encoded. */
const argsOf = (args: unknown) =>
  (args as Arg[] | undefined)?.map(({ name, type, hex, value }) => {
    const kind = type ?? value!.type
    return [name, kind, kind.endsWith(']') || kind === 'string' ? null : (hex ?? value?.hex)]
  })
