/** Prints the functions of the registry whose name holds the text given, all of them without one: `node scripts/registry/show.ts swap`. */
import { readFileSync } from 'node:fs'
import { openFunctions } from '../../src/decode/functions.ts'
import { parseSignature, selectorOf } from '../../src/decode/signature.ts'

const wanted = process.argv[2] ?? ''
const functions = openFunctions(readFileSync(new URL('../../data/functions.bin', import.meta.url)))
for (const text of functions.texts()) {
  if (!text.slice(2, text.indexOf('(')).includes(wanted)) continue
  process.stdout.write(`${selectorOf(parseSignature(text.slice(2), 'function'))} ${text}\n`)
}
