import { isJsonObject, type Json, type JsonObject, member, ownEntry, parseJson } from '../../api/json.ts'

/** Conditions that a rule can have, and sentences about the rest. */
export interface RuleConditions {
  conditions: JsonObject[]
  left: string[]
  /** Names and addresses without a field, which the network knows. */
  words: string[]
}

/** Reads a search as conditions: a JSON clause, a body, or `field:value AND …`. */
export const readConditions = (text: string): RuleConditions => {
  const taken: RuleConditions = { conditions: [], left: [], words: [] }
  const typed = text.trim()
  if (typed === '') return taken
  if (!typed.startsWith('{')) {
    ofText(typed, taken)
    return taken
  }
  try {
    const value = parseJson(typed)
    const query = member(value, 'query')
    clause(isJsonObject(query) && Object.keys(value as JsonObject).length === 1 ? query : value, taken)
  } catch (error) {
    taken.left.push(`The query is not JSON: ${(error as Error).message}.`)
  }
  return taken
}

const clause = (query: Json, taken: RuleConditions) => {
  if (!isJsonObject(query)) return
  for (const [name, body] of Object.entries(query)) {
    const read = READERS.get(name)
    if (read && isJsonObject(body)) read(body, taken)
    else leave(ownEntry(PLAIN_NAMES, name) ?? `“${name}”`, taken)
  }
}

/** What clauses are for people. */
const PLAIN_NAMES: Record<string, string> = {
  must_not: 'What the search excludes (NOT)',
  should: 'A choice between conditions (OR)',
  exists: 'That a field has a value',
  wildcard: 'A pattern',
  regexp: 'A pattern',
  prefix: 'How a value begins',
  fuzzy: 'A similar spelling',
}

export const leave = (what: string, { left }: Pick<RuleConditions, 'left'>) =>
  void left.push(`${what} has no counterpart in a rule, and was left out.`)

type ClauseReader = (body: JsonObject, taken: RuleConditions) => void

const bool: ClauseReader = (body, taken) => {
  for (const [name, inner] of Object.entries(body)) {
    const clauses = Array.isArray(inner) ? inner : [inner]
    const isOnlyOne = name === 'should' && clauses.length === 1 && body.must === undefined && body.filter === undefined
    if (name === 'must' || name === 'filter' || isOnlyOne) for (const it of clauses) clause(it, taken)
    else if (name !== 'boost' && name !== 'minimum_should_match' && name !== '_name')
      leave(ownEntry(PLAIN_NAMES, name) ?? `“${name}”`, taken)
  }
}

/** A clause's value, short or in `key`. */
const operand = (value: Json, key: string): Json => (isJsonObject(value) ? (member(value, key) ?? null) : value)

const equal =
  (key: string, operator: string): ClauseReader =>
  (body, { conditions }) => {
    for (const [name, value] of Object.entries(body))
      if (name !== 'boost') conditions.push({ name, operator, value: String(operand(value, key)) })
  }

/** Full text equals a term for single words only. */
const match: ClauseReader = (body, taken) => {
  for (const [name, value] of Object.entries(body)) {
    const words = String(operand(value, 'query'))
    if (/^\w+$/.test(words)) taken.conditions.push({ name, operator: 'Equals (ignore case)', value: words })
    else leave(`A search for several words in ${name}`, taken)
  }
}

const readTerms: ClauseReader = (body, taken) => {
  for (const [name, values] of Object.entries(body))
    if (Array.isArray(values)) taken.conditions.push({ name, operator: 'Equals any', value: values.map(String) })
    else if (name !== 'boost') leave(`A look-up of the values of ${name}`, taken)
}

const BOUNDS: ReadonlyMap<string, string> = new Map([
  ['gt', 'Greater'],
  ['gte', 'Greater or Equal'],
  ['lt', 'Less'],
  ['lte', 'Less or Equal'],
])

const readRange: ClauseReader = (body, taken) => {
  for (const [name, bounds] of Object.entries(body)) {
    if (name === 'timestamp') {
      taken.left.push('The span of time was left out: a rule looks at the blocks that come.')
      continue
    }
    for (const [bound, value] of Object.entries(isJsonObject(bounds) ? bounds : {})) {
      const operator = BOUNDS.get(bound)
      if (operator) taken.conditions.push({ name, operator, value: String(value) })
      else if (bound !== 'boost') leave(`“${bound}” of the range of ${name}`, taken)
    }
  }
}

/** One clause on `args.name` and others on its value. */
const readNested: ClauseReader = (body, taken) => {
  const inner: RuleConditions = { conditions: [], left: [], words: [] }
  clause(member(body, 'query') ?? null, inner)
  const name = inner.conditions.find(it => it.name === 'args.name' && it.operator === 'Equals')?.value
  const others = inner.conditions.filter(it => it.name !== 'args.name' || it.operator !== 'Equals')
  const isValue = others.every(it => ARGUMENT_VALUES.has(String(it.name)))
  if (member(body, 'path') !== 'args' || name === undefined || others.length === 0 || !isValue)
    return leave('A condition on arguments other than one by its name', taken)
  taken.left.push(...inner.left)
  for (const { name: path, operator, value } of others) {
    const scaled = path === 'args.value.scaled'
    const own = { name, operator, value, ...(scaled && { useScaledValue: true }) } as JsonObject
    taken.conditions.push({ name: 'args', operator: 'Inspect', operatorParameters: [own] })
  }
}

const ARGUMENT_VALUES = new Set(['hex', 'num', 'dec', 'scaled'].map(it => `args.value.${it}`))

const READERS: ReadonlyMap<string, ClauseReader> = new Map<string, ClauseReader>([
  ['bool', bool],
  ['term', equal('value', 'Equals')],
  ['match_phrase', equal('query', 'Equals (ignore case)')],
  ['match', match],
  ['terms', readTerms],
  ['range', readRange],
  ['nested', readNested],
  ['match_all', () => {}],
  ['constant_score', (body, taken) => clause(member(body, 'filter') ?? null, taken)],
  [
    'query_string',
    (body, taken) => {
      const query = member(body, 'query')
      if (typeof query === 'string' && Object.keys(body).length === 1) ofText(query, taken)
      else leave('A query string with options', taken)
    },
  ],
])

/** `field:value`, `field:(a OR b)`, `field:>=number` and single words, joined by AND. */
const ofText = (text: string, taken: RuleConditions) => {
  for (const part of text.split(/\s+AND\s+/)) {
    const typed = part.trim()
    const [, name, bound = '', quoted, bare] = QUERY_STRING_TERM.exec(typed) ?? []
    const [, any, choice] = CHOICE.exec(typed) ?? []
    if (name !== undefined) taken.conditions.push({ name, operator: SIGNS.get(bound)!, value: quoted ?? bare ?? '' })
    else if (any !== undefined)
      taken.conditions.push({ name: any, operator: 'Equals any (ignore case)', value: choice!.split(/\s+OR\s+/) })
    else if (/^\w+( \w+)*$/.test(typed) && !/\b(OR|NOT)\b/.test(typed)) taken.words.push(typed)
    else leave(`“${typed}”`, taken)
  }
}

const QUERY_STRING_TERM = /^([\w.]+):(>=|<=|>|<)?(?:"([^"\\]*)"|([^\s"()[\]{}*?~^\\:/]+))$/
const CHOICE = /^([\w.]+):\((\w+(?:\s+OR\s+\w+)+)\)$/
const SIGNS: ReadonlyMap<string, string> = new Map([
  ['', 'Equals (ignore case)'],
  ['>', 'Greater'],
  ['>=', 'Greater or Equal'],
  ['<', 'Less'],
  ['<=', 'Less or Equal'],
])
