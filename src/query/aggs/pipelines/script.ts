import { refuse } from '../../../lib/errors.ts'
import { toJavaLong } from '../../dates/write-format.ts'
import { Numeral, shortenText } from '../../json.ts'
import {
  bracketName,
  expectKeys,
  isJsonMap,
  type JsonNode,
  members,
  toText,
  unexpected,
  where,
} from '../../json-node.ts'

/** Integers are bigints, since Java's division truncates. */
export type ScriptValue = number | bigint | boolean | null
/** Numbers by name; null for none. */
export type Variables = ReadonlyMap<string, number | null>

type ScriptType = 'number' | 'boolean' | 'null'
interface ScriptPart {
  kind: ScriptType
  of: (variables: Variables) => ScriptValue
}

/** Compiles arithmetic over `params.name`; refuses other Painless. `names`: the variables. */
export const compileScript = (source: ScriptSource, names: ReadonlySet<string>, wanted: 'number' | 'boolean') => {
  const { text, at } = source
  const refused = (why: string) =>
    refuse(
      'illegal_argument_exception',
      `${where(at)}: this script is not supported: ${why}. Supported is arithmetic over params, such as "params.a / params.b": + - * / % < <= > >= == != && || ! ?: null and Math.${[...MATH_FUNCTIONS.keys()].join(', Math.')}.`,
    )
  const tokens = tokenize(text, refused)
  const part = parseScript(tokens, source, names, refused)
  if (part.kind !== wanted) {
    throw refused(`it gives a ${part.kind}, where a ${wanted} is needed`)
  }
  return (variables: Variables): ScriptValue => part.of(variables)
}

type RefuseScript = (why: string) => Error

const SCRIPT_TOKEN =
  /\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?[dDfFlL]?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|('[^'\\]*'|"[^"\\]*")|(&&|\|\||[<>=!]=|[-+*/%<>!?:().,;[\]]))/y

const tokenize = (text: string, refused: RefuseScript): string[] => {
  const tokens: string[] = []
  SCRIPT_TOKEN.lastIndex = 0
  for (let at = 0; at < text.length; at = SCRIPT_TOKEN.lastIndex) {
    const found = SCRIPT_TOKEN.exec(text)
    if (!found) throw refused(`at [${shortenText(text.slice(at).trim())}]`)
    tokens.push((found[1] ?? found[2] ?? found[3] ?? found[4])!)
  }
  return tokens
}

/** Operators by ascending precedence. */
const OPERATOR_LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
]
const MAX_SCRIPT_DEPTH = 50

const parseScript = (
  tokens: readonly string[],
  source: ScriptSource,
  names: ReadonlySet<string>,
  refused: RefuseScript,
): ScriptPart => {
  let at = 0
  let depth = 0
  const take = (token: string): boolean => {
    if (tokens[at] !== token) return false
    at++
    return true
  }
  const expect = (token: string) => {
    if (!take(token)) throw refused(`expected [${token}] at [${shortenText(tokens.slice(at).join(' '))}]`)
  }
  const { number, truth, combine } = createParts(source, refused)

  const ternary = (): ScriptPart => {
    if (++depth > MAX_SCRIPT_DEPTH) throw refused(`it has more than ${MAX_SCRIPT_DEPTH} parts in one another`)
    const condition = level(0)
    let found = condition
    if (take('?')) {
      const isTrue = truth(condition, '?')
      const yes = ternary()
      expect(':')
      const no = ternary()
      if (yes.kind !== no.kind) throw refused('both sides of [:] must be of one kind')
      found = { kind: yes.kind, of: variables => (isTrue(variables) ? yes : no).of(variables) }
    }
    depth--
    return found
  }

  const level = (of: number): ScriptPart => {
    const operators = OPERATOR_LEVELS[of]
    if (operators === undefined) return unary()
    let left = level(of + 1)
    while (operators.includes(tokens[at] ?? '')) {
      const operator = tokens[at++]!
      left = combine(operator, left, level(of + 1))
    }
    return left
  }

  const unary = (): ScriptPart => {
    if (++depth > MAX_SCRIPT_DEPTH) throw refused(`it has more than ${MAX_SCRIPT_DEPTH} parts in one another`)
    const found = unaryOf()
    depth--
    return found
  }

  const unaryOf = (): ScriptPart => {
    if (take('-')) {
      const of = number(unary(), '-')
      return { kind: 'number', of: v => -of(v) }
    }
    if (take('+')) {
      const part = unary()
      number(part, '+')
      return part
    }
    if (take('!')) {
      const of = truth(unary(), '!')
      return { kind: 'boolean', of: v => !of(v) }
    }
    if (take('(')) {
      const inner = ternary()
      expect(')')
      return inner
    }
    return operand()
  }

  const operand = (): ScriptPart => {
    const token = tokens[at++]
    if (token === undefined) throw refused('it ends too early')
    if (/^[.\d]/.test(token)) {
      const value = literal(token, source, refused)
      return { kind: 'number', of: () => value }
    }
    if (token === 'true' || token === 'false') return { kind: 'boolean', of: () => token === 'true' }
    if (token === 'null') return { kind: 'null', of: () => null }
    if (token === 'Math' && take('.')) return call(tokens[at++] ?? '')
    if (token === 'params' && !source.isExpression) {
      if (take('.')) return variable(tokens[at++] ?? '')
      if (take('[')) {
        const name = tokens[at++] ?? ''
        expect(']')
        if (/^['"]/.test(name)) return variable(name.slice(1, -1))
      }
    }
    if (source.isExpression && /^[A-Za-z_]/.test(token)) return tokens[at] === '(' ? call(token) : variable(token)
    throw refused(`[${shortenText(token)}]`)
  }

  const variable = (name: string): ScriptPart => {
    if (names.has(name)) return { kind: 'number', of: v => v.get(name) ?? null }
    const value = source.params.get(name)
    if (value === undefined) throw refused(`there is no [${shortenText(name)}] among buckets_path and params`)
    if (typeof value === 'boolean') return { kind: 'boolean', of: () => value }
    const given = source.integers.has(name) && !source.isExpression ? BigInt(value) : value
    return { kind: 'number', of: () => given }
  }

  const call = (name: string): ScriptPart => {
    const make = MATH_FUNCTIONS.get(name)
    if (!make) throw refused(`[Math.${shortenText(name)}]`)
    expect('(')
    const parts: ((variables: Variables) => ScriptNumber)[] = []
    do parts.push(number(ternary(), name))
    while (take(','))
    expect(')')
    if (parts.length !== make.takes) throw refused(`[Math.${name}] takes ${make.takes}`)
    return { kind: 'number', of: v => make.of(parts.map(of => of(v))) }
  }

  take('return')
  const found = ternary()
  take(';')
  if (at < tokens.length) throw refused(`at [${shortenText(tokens.slice(at).join(' '))}]`)
  return found
}

/** Type-checked parts of a script. */
const createParts = (source: ScriptSource, refused: RefuseScript) => {
  const number = ({ kind, of }: ScriptPart, what: string) => {
    if (kind !== 'number') throw refused(`[${what}] needs numbers`)
    return (variables: Variables): ScriptNumber => presentNumber(of(variables), source)
  }
  const truth = ({ kind, of }: ScriptPart, what: string) => {
    if (kind !== 'boolean') throw refused(`[${what}] needs a condition`)
    return of
  }
  const combine = (operator: string, left: ScriptPart, right: ScriptPart): ScriptPart => {
    switch (operator) {
      case '||':
      case '&&': {
        const [x, y] = [truth(left, operator), truth(right, operator)]
        return { kind: 'boolean', of: operator === '||' ? v => x(v) || y(v) : v => x(v) && y(v) }
      }
      case '==':
      case '!=': {
        const isNull = left.kind === 'null' || right.kind === 'null'
        if (!isNull && left.kind !== right.kind) throw refused(`[${operator}] compares things of one kind`)
        // Integers equal doubles of the same value.
        // biome-ignore lint/suspicious/noDoubleEquals: 1n == 1
        return { kind: 'boolean', of: v => (left.of(v) == right.of(v)) === (operator === '==') }
      }
    }
    const [a, b] = [number(left, operator), number(right, operator)]
    const compare = SCRIPT_COMPARISONS.get(operator)
    if (compare) return { kind: 'boolean', of: v => compare(a(v), b(v)) }
    const calculate = ARITHMETIC.get(operator)!
    return { kind: 'number', of: v => arithmetic(calculate, a(v), b(v), source) }
  }
  return { number, truth, combine }
}

const presentNumber = (value: ScriptValue, { at }: ScriptSource): ScriptNumber => {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  throw refuse(
    'illegal_argument_exception',
    `${where(at)}: a bucket has no number for one of the paths. Ask for it first (params.a == null ? 0 : params.a), or let the gap_policy insert zeros.`,
  )
}

const literal = (token: string, { isExpression }: ScriptSource, refused: RefuseScript): ScriptNumber => {
  if (/^\d+[lL]?$/.test(token) && !isExpression) {
    const isLong = /[lL]$/.test(token)
    const value = BigInt(token.replace(/[lL]$/, ''))
    if (value >= 2n ** (isLong ? 63n : 31n))
      throw refused(`[${shortenText(token)}] is not an integer of its size: write it as ${shortenText(token)}.0`)
    return value
  }
  return Number.parseFloat(token)
}

type ScriptNumber = number | bigint

const ARITHMETIC = new Map([
  ['+', { doubles: (a: number, b: number) => a + b, integers: (a: bigint, b: bigint) => a + b }],
  ['-', { doubles: (a: number, b: number) => a - b, integers: (a: bigint, b: bigint) => a - b }],
  ['*', { doubles: (a: number, b: number) => a * b, integers: (a: bigint, b: bigint) => a * b }],
  ['/', { doubles: (a: number, b: number) => a / b, integers: (a: bigint, b: bigint) => a / b }],
  ['%', { doubles: (a: number, b: number) => a % b, integers: (a: bigint, b: bigint) => a % b }],
])

type ArithmeticOperation = NonNullable<ReturnType<typeof ARITHMETIC.get>>

const arithmetic = (
  operation: ArithmeticOperation,
  a: ScriptNumber,
  b: ScriptNumber,
  { at }: ScriptSource,
): ScriptNumber => {
  if (typeof a !== 'bigint' || typeof b !== 'bigint') return operation.doubles(Number(a), Number(b))
  if (b === 0n && (operation === ARITHMETIC.get('/') || operation === ARITHMETIC.get('%'))) {
    throw refuse('arithmetic_exception', `${where(at)}: / by zero. Of doubles it gives no value: write 0.0.`)
  }
  const found = operation.integers(a, b)
  const bits = isInt(a) && isInt(b) ? 32 : 64
  if (found === BigInt.asIntN(bits, found)) return found
  throw refuse(
    'arithmetic_exception',
    `${where(at)}: ${found} is not an integer of ${bits} bits. Write one of the numbers with a fraction, such as 2.0.`,
  )
}

const isInt = (value: bigint): boolean => value === BigInt.asIntN(32, value)

const SCRIPT_COMPARISONS = new Map<string, (a: ScriptNumber, b: ScriptNumber) => boolean>([
  ['<', (a, b) => a < b],
  ['<=', (a, b) => a <= b],
  ['>', (a, b) => a > b],
  ['>=', (a, b) => a >= b],
])

const ofDoubles = (takes: number, of: (...numbers: number[]) => ScriptNumber) => ({
  takes,
  of: (numbers: ScriptNumber[]): ScriptNumber => of(...numbers.map(Number)),
})

const MATH_FUNCTIONS = new Map<string, { takes: number; of: (numbers: ScriptNumber[]) => ScriptNumber }>([
  ['abs', ofDoubles(1, Math.abs)],
  ['max', ofDoubles(2, Math.max)],
  ['min', ofDoubles(2, Math.min)],
  ['round', ofDoubles(1, value => toJavaLong(Math.floor(value + 0.5)))],
  ['floor', ofDoubles(1, Math.floor)],
  ['ceil', ofDoubles(1, Math.ceil)],
  ['sqrt', ofDoubles(1, Math.sqrt)],
  ['log', ofDoubles(1, Math.log)],
  ['log10', ofDoubles(1, Math.log10)],
  ['exp', ofDoubles(1, Math.exp)],
  ['pow', ofDoubles(2, (a, b) => a ** b)],
])

interface ScriptSource {
  text: string
  params: ReadonlyMap<string, number | boolean>
  /** Names of params written as integers. */
  integers: ReadonlySet<string>
  /** Whether variables have no `params.` prefix. */
  isExpression: boolean
  at: JsonNode
}

export const readScript = (place: JsonNode): ScriptSource => {
  if (!isJsonMap(place.value)) return { ...NO_PARAMS, ...scriptText(place) }
  const { source, inline, lang, params } = expectKeys(
    place,
    'a script',
    ['source', 'inline', 'lang', 'params', 'id'],
    [],
  )
  const at = source ?? inline
  if (at === undefined || (source && inline)) throw unexpected(place, 'a script with [source]')
  const language = lang === undefined ? 'painless' : toText(lang, 'a language')
  if (language !== 'painless' && language !== 'expression') {
    throw refuse(
      'illegal_argument_exception',
      `${where(lang!)}: script_lang not supported ${bracketName(language)}. Write arithmetic in painless or as an expression.`,
    )
  }
  return { ...scriptText(at), ...paramsOf(params), isExpression: language === 'expression' }
}

const NO_PARAMS = { params: new Map(), integers: new Set<string>(), isExpression: false }

const scriptText = (at: JsonNode): { text: string; at: JsonNode } => {
  const text = toText(at, 'a script').trim()
  if (text.length <= MAX_SCRIPT_LENGTH) return { text, at }
  throw refuse('illegal_argument_exception', `${where(at)}: a script has at most ${MAX_SCRIPT_LENGTH} characters here.`)
}

const MAX_SCRIPT_LENGTH = 1000

const paramsOf = (place: JsonNode | undefined): Pick<ScriptSource, 'params' | 'integers'> => {
  const params = new Map<string, number | boolean>()
  const integers = new Set<string>()
  for (const [name, at] of place === undefined ? [] : members(place, 'params by name')) {
    const { value } = at
    if (typeof value === 'boolean') params.set(name, value)
    else if (typeof value === 'number') {
      params.set(name, value)
      integers.add(name)
    } else if (value instanceof Numeral) params.set(name, Number(value.text))
    else throw unexpected(at, 'a number, true or false')
  }
  return { params, integers }
}
