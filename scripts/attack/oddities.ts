import type { Random } from '../bench/random.ts'
import { pick } from './attack.ts'
import { isRaw, raw } from './json.ts'
import { isHolder, misspelt, type Oddity } from './mutate.ts'

/** Names that a look-up in a plain object finds although nobody put them there. */
export const INHERITED = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'isPrototypeOf',
  'toLocaleString',
  'propertyIsEnumerable',
  '__defineGetter__',
  '__lookupGetter__',
  'length',
  'then',
]

const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1.0',
  '1.5',
  '1e2',
  '1e-7',
  '1e999',
  '-1e999',
  '1e-999',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '1e400000000',
  '0.1e-2147483649',
  '2147483648',
  `1${'0'.repeat(399)}`,
  `0.${'0'.repeat(5_000)}1`,
]

const TEXTS = [
  '',
  ' ',
  '0x',
  '0X1',
  '0x-1',
  `0x${'f'.repeat(64)}`,
  `0x${'f'.repeat(65)}`,
  '+1',
  '1_000',
  '0b1',
  'NaN',
  'Infinity',
  'null',
  'true',
  'now',
  'now-1d/d',
  'now/1000000000y',
  '2020-13-45T99:99:99',
  '-999999999-01-01',
  '*',
  '?',
  '.',
  '..',
  '.num',
  'args.',
  '_id',
  '_type',
  '_index',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u202e\u0645\u0631',
  'I\u0307\u0130\u0131',
  '\ufeff',
  '𝔘𝔫𝔦',
  '👩‍👩‍👧‍👦',
  'e\u0301'.repeat(50),
  "'; DROP TABLE block; --",
  '" OR 1=1',
  '{{7*7}}',
  '%00',
  '../../etc/passwd',
]

/** Odd values for a query body; `words` are names and values that bodies have. */
export const oddityOf =
  (words: readonly unknown[]): Oddity =>
  (random, old) =>
    pick(random, MAKERS)(random, old, words)

type Maker = (random: Random, old: unknown, words: readonly unknown[]) => unknown

const MAKERS: Maker[] = [
  (random, _, words) => pick(random, words),
  (random, _, words) => pick(random, words),
  // What is found where a table is a plain object.
  random => pick(random, INHERITED),
  random => pick(random, INHERITED),
  random => pick(random, INHERITED),
  random => pick(random, INHERITED),
  random => pick(random, TEXTS),
  random => raw(pick(random, NUMBERS)),
  random => pick(random, NUMBERS),
  random => pick(random, [null, true, false, [], {}, [[]], [null], { '': null }]),
  (random, old) => (typeof old === 'string' ? misspelt(random, old) : old),
  (random, old) =>
    isRaw(old) && /^\d{1,60}$/.test(old.raw) ? raw(String(BigInt(old.raw) + BigInt(random.below(3)))) : old,
  random => pick(random, ['x', '0', '\ud83d', 'é', '"', '\\']).repeat(pick(random, [257, 2_000, 30_000])),
  (random, old) => deep(old, pick(random, [5, 40, 110, 200]), random.below(2) === 0),
  (random, old) =>
    Array.from({ length: pick(random, [3, 200, 5_000]) }, (_, i) => (i % 2 && !isHolder(old) ? old : String(i))),
]

const deep = (value: unknown, levels: number, inLists: boolean): unknown => {
  let inner = value
  for (let i = 0; i < levels; i++) inner = inLists ? [inner] : { bool: { filter: inner } }
  return inner
}
