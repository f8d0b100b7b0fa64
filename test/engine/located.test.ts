import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { createFunctionDecoder } from '../../src/decode/abi-decoder.ts'
import { renderEvent } from '../../src/decode/render.ts'
import { asJson, formatArgument as shownArgument } from '../../src/documents/show.ts'
import { packAbi } from '../../src/engine/forms/abi-words.ts'
import { createAddresses } from '../../src/engine/forms/addresses.ts'
import { compileArguments, createStaticArguments } from '../../src/engine/show/static-arguments.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'

// Arguments that are shown from where they lie packed, against the decoder, on words that fit their types and words that do not.

const digits: string[] = ['']
const ids = new Map<string, number>()
const idOf = (text: string): number => {
  if (!ids.has(text)) ids.set(text, digits.push(text) - 1)
  return ids.get(text)!
}

const bits = fc.integer({ min: 1, max: 32 }).map(size => size * 8)
const type = fc.oneof(
  fc.constantFrom('address', 'bool', 'function'),
  bits.map(size => `uint${size}`),
  bits.map(size => `int${size}`),
  bits.map(size => `bytes${size / 8}`),
)

const hex = (length: number) =>
  fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length }).map(list => list.join(''))
const word = (size: number): fc.Arbitrary<string> =>
  fc.oneof(
    // Of the type's own size, at either end, positive and negative; then whatever else.
    hex(size * 2).map(text => text.padStart(64, '0')),
    hex(size * 2).map(text => text.padStart(64, 'f')),
    hex(size * 2).map(text => text.padEnd(64, '0')),
    fc.nat(3).map(value => String(value).padStart(64, '0')),
    hex(40).map(text => text.padStart(64, '0')),
    fc.integer({ min: 0, max: 64 }).chain(length => hex(length).map(text => text.padStart(64, '0'))),
    fc.integer({ min: 0, max: 64 }).chain(length => hex(length).map(text => text.padStart(64, 'f'))),
    fc.constantFrom('0', 'f', '8').map(digit => digit.repeat(64)),
  )
const sizeOf = (type: string): number => {
  const size = Number(/\d+$/.exec(type)?.[0] ?? 0)
  return type === 'address'
    ? 20
    : type === 'bool'
      ? 1
      : type === 'function'
        ? 24
        : type.startsWith('b')
          ? size
          : size / 8
}
const call = fc.array(type, { maxLength: 4 }).chain(types =>
  fc.record({
    types: fc.constant(types),
    words: fc.tuple(...types.map(type => word(sizeOf(type)))),
    surplus: fc.oneof(
      { weight: 8, arbitrary: fc.constant('') },
      fc.constantFrom('00', '0'.repeat(64), `${'0'.repeat(24)}${'a'.repeat(40)}`),
    ),
    lacking: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.constantFrom(2, 64)),
    decimals: fc.option(fc.nat(30)),
  }),
)

it('arguments are located where they decode, and shown as they are decoded', () => {
  const located = createStaticArguments(createAddresses(id => Buffer.from(digits[id]!, 'hex')))
  const [data, out] = [createByteWriter(), createByteWriter()]
  let seen = 0
  fc.assert(
    fc.property(call, ({ types, words, surplus, lacking, decimals }) => {
      const inputs = types.map((type, i) => ({ name: i % 3 === 2 ? '' : `a${i}`, type }))
      const all = words.join('') + surplus
      const text = `0x${all.slice(0, Math.max(0, all.length - lacking))}`
      const decoded = createFunctionDecoder({ name: 'f', inputs })(`0x12345678${text.slice(2)}`)
      const compiled = compileArguments('f', inputs)!
      data.clear()
      data.byte(1)
      assert.ok(packAbi(data, text, idOf))
      const found = located.locate(compiled, false, data.view(), 1, data.length)
      assert.equal(found, decoded.args !== null && decoded.error === null, decoded.error ?? text)
      if (!found) return
      seen++
      out.clear()
      out.text('f(')
      located.text(out, compiled)
      out.text(')')
      assert.equal(out.view().toString(), renderEvent({ name: 'f', inputs }, decoded.args!))
      if (types.length === 0) return
      out.clear()
      located.list(out, compiled, decimals, 'whole')
      const shown = decoded.args!.map(arg => shownArgument(arg, decimals, asJson))
      assert.equal(out.view().toString(), JSON.stringify(shown))
    }),
    { numRuns: 4000, seed: Number(process.env.SEED ?? 3) },
  )
  assert.ok(seen > 500, `${seen}`)
})
