import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Hex, keccak256, toRlp } from 'viem'
import { trieRootOf } from '../../src/lib/rlp.ts'

/** As the Yellow Paper has it, over maps of digits, with viem's RLP. */
type Item = Hex | Item[]
const nodeOf = (values: ReadonlyMap<string, Hex>): Item => {
  const keys = [...values.keys()]
  const [first = ''] = keys
  if (keys.length === 1) return [prefixed(first, 2), values.get(first)!]
  let same = 0
  while (keys.every(key => key[same] === first[same])) same++
  const behind = (by: number, own: readonly string[]) =>
    reference(nodeOf(new Map(own.map(key => [key.slice(by), values.get(key)!]))))
  if (same > 0) return [prefixed(first.slice(0, same), 0), behind(same, keys)]
  const children = [...'0123456789abcdef'].map((digit): Item => {
    const own = keys.filter(key => key[0] === digit)
    return own.length === 0 ? '0x' : behind(1, own)
  })
  return [...children, '0x']
}

const prefixed = (digits: string, flag: number): Hex =>
  digits.length % 2 ? `0x${flag + 1}${digits}` : `0x${flag}0${digits}`

const encode = (item: Item): Hex => toRlp(item as never) as Hex

const reference = (item: Item): Item => {
  const encoded = encode(item)
  return encoded.length / 2 - 1 < 32 ? item : keccak256(encoded)
}

const keyOf = (place: number): string => {
  const digits = place.toString(16)
  return encode(place === 0 ? '0x' : `0x${digits.length % 2 ? `0${digits}` : digits}`).slice(2)
}

const model = (items: readonly Uint8Array[]): Hex =>
  keccak256(
    encode(
      items.length === 0
        ? '0x'
        : nodeOf(new Map(items.map((item, i) => [keyOf(i), `0x${Buffer.from(item).toString('hex')}`]))),
    ),
  )

const check = (items: readonly Uint8Array[]) =>
  assert.equal(`0x${Buffer.from(trieRootOf(items)).toString('hex')}`, model(items))

test('the root of a trie is that of a naive one', () => {
  assert.equal(model([]), '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421')
  for (const count of [0, 1, 2, 16, 17, 127, 128, 129, 255, 256, 257, 300])
    check(Array.from({ length: count }, (_, i) => Buffer.alloc(count > 200 ? 40 : 3, i)))
  fc.assert(fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 40 }), check), {
    numRuns: 100,
    seed: 1,
  })
})
