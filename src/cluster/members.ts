import { type Kind, MAPPING } from '../mapping/index.ts'
import { eachMember, endOfValue } from './hits/scan.ts'

/** A document's text with other values of some members; all others keep their bytes. New members stand where the mapping has them. */
export const withMembers = (kind: Kind, source: string, changed: ReadonlyMap<string, string>): string => {
  const members: [name: string, text: string][] = []
  const bytes = Buffer.from(source)
  eachMember(bytes, 0, (from, at) => {
    const to = endOfValue(bytes, from)
    const name = bytes.toString('utf8', at, from - 2)
    members.push([name, changed.get(name) ?? bytes.toString('utf8', from, to)])
    return to
  })
  const there = new Set(members.map(([name]) => name))
  for (const [name, text] of changed) {
    if (there.has(name)) continue
    const rank = rankOf(kind, name)
    const next = members.findIndex(([other]) => rankOf(kind, other) > rank)
    members.splice(next < 0 ? members.length : next, 0, [name, text])
  }
  return `{${members.map(([name, text]) => `"${name}":${text}`).join()}}`
}

const rankOf = (kind: Kind, name: string): number => {
  let ranks = known.get(kind)
  if (!ranks) {
    const names = Object.keys(MAPPING[kind].fields).map(path => path.split('.')[0]!)
    ranks = new Map([...new Set(names)].map((name, rank) => [name, rank]))
    known.set(kind, ranks)
  }
  return ranks.get(name) ?? Number.POSITIVE_INFINITY
}
const known = new Map<Kind, ReadonlyMap<string, number>>()
