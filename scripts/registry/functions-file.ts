import { brotliCompressSync, constants } from 'node:zlib'
import { BLOCK_SIZE, GROUP_SIZE, type STANDINGS } from '../../src/decode/functions.ts'

/** See `STANDINGS`. */
export type Standing = keyof typeof STANDINGS & ('+' | ' ' | '?')

export interface PackedFunction {
  selector: string
  /** `transfer(address to, uint256 amount)` */
  text: string
  standing: Standing
}

/** The content of `data/functions.bin`, which see in `src/decode/functions.ts`. */
export function packFunctions(head: readonly string[], functions: readonly PackedFunction[]): Buffer {
  const size = functions.length
  if (size > GROUP_SIZE * 65536) throw new Error(`${size} functions are more than the file can tell apart`)
  const sorted = functions
    .map(({ selector, text, standing }) => ({ selector, text: text.replaceAll(', ', ','), standing }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))

  const blocks: Buffer[] = []
  for (let i = 0; i < size; i += BLOCK_SIZE) blocks.push(packBlock(sorted.slice(i, i + BLOCK_SIZE)))
  const bySelector = sorted
    .map(({ selector }, i) => ({ selector: Number(selector), group: Math.floor(i / GROUP_SIZE) }))
    .sort((a, b) => a.selector - b.selector || a.group - b.group)
  const counts = new Array<number>(65536).fill(0)
  for (const { selector } of bySelector) counts[selector >>> 16]!++

  return Buffer.concat([
    Buffer.from(`${head.map(line => `# ${line}\n`).join('')}\0`),
    numbers(4, [size, ...blocks.map(block => block.length)]),
    numbers(2, counts),
    numbers(
      2,
      bySelector.map(({ selector }) => selector & 0xffff),
    ),
    numbers(
      2,
      bySelector.map(({ group }) => group),
    ),
    ...blocks,
  ])
}

function packBlock(functions: readonly PackedFunction[]): Buffer {
  let before = ''
  const names = functions.map(({ text }, i) => {
    const name = text.slice(0, text.indexOf('('))
    if (i % GROUP_SIZE === 0) before = ''
    let common = 0
    while (common < MOST && common < name.length && name[common] === before[common]) common++
    before = name
    return String.fromCharCode(32 + common) + name.slice(common)
  })
  const args = functions.map(({ text, standing }) => standing + text.slice(text.indexOf('(') + 1, -1))
  return brotliCompressSync([...names, ...args].join('\n'), {
    params: { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT, [constants.BROTLI_PARAM_QUALITY]: 11 },
  })
}

/** Characters in common that one printable character can tell. */
const MOST = 90

function numbers(width: 2 | 4, list: readonly number[]): Buffer {
  const bytes = Buffer.alloc(width * list.length)
  list.forEach((value, i) => {
    bytes.writeUIntLE(value, i * width, width)
  })
  return bytes
}
