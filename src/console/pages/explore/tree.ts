/** JSON with text positions, so that digits stay exact and errors can be located. */
export interface JsonTree {
  from: number
  to: number
  members?: Member[]
  items?: JsonTree[]
}

export interface Member {
  name: string
  at: number
  value: JsonTree
}

const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g
const DEEPEST = 100

export const readTree = (text: string): JsonTree => {
  const tokens = Array.from(text.matchAll(JSON_TOKEN), ({ 0: token, index }) => ({ token, from: index }))
  let next = 0
  const read = (depth: number): JsonTree => {
    if (depth > DEEPEST) throw new Error(`The query lies more than ${DEEPEST} levels deep.`)
    const { token, from } = tokens[next++]!
    if (token === '{') return readMembers(from, depth)
    if (token === '[') return readItems(from, depth)
    return { from, to: from + token.length }
  }
  const readMembers = (from: number, depth: number): JsonTree => {
    const members: Member[] = []
    while (tokens[next]!.token !== '}') {
      if (tokens[next]!.token === ',') next++
      const { token, from: at } = tokens[next]!
      next += 2
      members.push({ name: JSON.parse(token) as string, at, value: read(depth + 1) })
    }
    return { from, to: tokens[next++]!.from + 1, members }
  }
  const readItems = (from: number, depth: number): JsonTree => {
    const items: JsonTree[] = []
    while (tokens[next]!.token !== ']') {
      if (tokens[next]!.token === ',') next++
      items.push(read(depth + 1))
    }
    return { from, to: tokens[next++]!.from + 1, items }
  }
  return read(0)
}

const WIDTH = 90

/** Formats JSON over several lines if it is long. */
export const layOut = (text: string): string => {
  const flat = ({ from, to, members, items }: JsonTree): string =>
    members
      ? `{${members.map(({ name, value }) => `${JSON.stringify(name)}: ${flat(value)}`).join(', ')}}`
      : items
        ? `[${items.map(flat).join(', ')}]`
        : text.slice(from, to)
  const write = (value: JsonTree, indent: string): string => {
    const line = flat(value)
    const { members, items } = value
    if (line.length + indent.length <= WIDTH || (!members && !items)) return line
    const inner = `${indent}  `
    const parts = members
      ? members.map(({ name, value }) => `${inner}${JSON.stringify(name)}: ${write(value, inner)}`)
      : items!.map(item => inner + write(item, inner))
    const [open, close] = members ? '{}' : '[]'
    return `${open}\n${parts.join(',\n')}\n${indent}${close}`
  }
  return write(readTree(text), '')
}

/** Position of a path such as `query.bool.filter[0].term.blockNumber.num` in a body or query. */
export const pathRange = (text: string, path: string): { from: number; to: number } => {
  let value = readTree(text)
  let range = { from: value.from, to: value.to }
  const isBody = value.members?.some(({ name }) => name === 'query')
  let rest = isBody ? path : path.replace(/^query(\.|$)/, '')
  while (rest !== '') {
    const [step, index] = /^\[(\d+)\]/.exec(rest) ?? []
    const item = index === undefined ? undefined : value.items?.[Number(index)]
    const member = value.members
      ?.filter(({ name }) => rest.startsWith(name) && /^($|[.[])/.test(rest.slice(name.length)))
      .sort((a, b) => b.name.length - a.name.length)[0]
    if (item) {
      value = item
      range = { from: item.from, to: item.to }
      rest = rest.slice(step!.length)
    } else if (member) {
      value = member.value
      const isLeaf = !value.members && !value.items
      range = { from: member.at, to: isLeaf ? value.to : member.at + JSON.stringify(member.name).length }
      rest = rest.slice(member.name.length)
    } else break
    rest = rest.replace(/^\./, '')
  }
  return range
}

/** The JSON context at the cursor of an unfinished text. */
export interface CaretContext {
  /** Path of the container, with the own name of a value. */
  path: (string | number)[]
  is: 'name' | 'value'
  /** Typed text without its quote. */
  typed: string
  from: number
  to: number
}

const LOOSE = /"(?:[^"\\\n]|\\.)*"?|[{}[\],:]|[^\s{}[\],:"]+/g
const MARKS = '{}[],:'

export const placeAt = (text: string, position: number): CaretContext => {
  const frames: { isList: boolean; name: string | undefined; isValue: boolean; index: number }[] = []
  let current = { from: position, to: position, typed: '' }
  for (const { 0: token, index: from } of text.matchAll(LOOSE)) {
    if (from >= position) break
    const to = from + token.length
    const isText = token.startsWith('"')
    const isClosed = isText && token.length > 1 && token.endsWith('"')
    if (!MARKS.includes(token) && (position < to || (position === to && !isClosed))) {
      current = { from, to, typed: text.slice(from + (isText ? 1 : 0), position) }
      break
    }
    const top = frames.at(-1)
    if (token === '{' || token === '[')
      frames.push({ isList: token === '[', name: undefined, isValue: token === '[', index: 0 })
    else if (token === '}' || token === ']') frames.pop()
    else if (!top) continue
    else if (token === ',') {
      top.index++
      top.isValue = top.isList
    } else if (token === ':') top.isValue = true
    else if (isClosed && !top.isValue) top.name = tokenName(token)
  }
  const top = frames.at(-1)
  const steps = frames.map(({ isList, name, index }) => (isList ? index : (name ?? '')))
  const is = top === undefined || top.isValue ? 'value' : 'name'
  return { path: is === 'name' ? steps.slice(0, -1) : steps, is, ...current }
}

const tokenName = (token: string): string => {
  try {
    return JSON.parse(token) as string
  } catch {
    return token.slice(1, -1)
  }
}
