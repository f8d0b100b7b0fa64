import { type AbiFormat, fault, shown } from './format.ts'
import { type Listed, readListed } from './listed.ts'

/**
 * Hash and signature a line: OpenChain's export (`0xa9059cbb,transfer(address,uint256)`), exports of 4byte.directory as CSV with
 * whatever columns there are beside them, `a9059cbb: transfer(address,uint256)` as `solc --hashes` prints it.
 */
export const signatureList: AbiFormat = {
  is({ text }) {
    if (text === undefined) return false
    const lines = text.split('\n', OUTLINE).filter(line => !isEmpty(line))
    return lines.some(line => hashIn(line) !== undefined && signatureIn(line) !== undefined)
  },
  read: ({ text }, place) => readListed(listedIn(text!, place), place),
}

/** Lines that are enough to tell what a file is. */
const OUTLINE = 50

function* listedIn(text: string, place: string): Generator<Listed> {
  let first = true
  for (const [i, line] of text.split('\n').entries()) {
    if (isEmpty(line)) continue
    const hash = hashIn(line)
    const signature = signatureIn(line)
    const isHeader = first && hash === undefined && HEADER.test(line)
    first = false
    if (isHeader) continue
    const at = `line ${i + 1}`
    if (hash === undefined || signature === undefined)
      throw fault(
        place,
        at,
        `is ${shown(line.trim())}, not a hash and a signature such as 0xa9059cbb,transfer(address,uint256); correct it or remove it`,
      )
    const raw = line.replace(hash, '').replace(/^[\s"',;:]+|[\s"',;:]+$/g, '')
    yield { hash: hash.startsWith('0x') ? hash : `0x${hash}`, text: signature, at, raw }
  }
}

const isEmpty = (line: string): boolean => /^\s*(?:#.*|\/\/.*)?$/.test(line)

/** `id,text_signature,hex_signature` */
const HEADER = /^[\w "']+(?:[,;\t][\w "']+)+\r?$/

/** Without `0x` at the beginning alone: elsewhere eight digits may be anything. */
const hashIn = (line: string): string | undefined =>
  /(?<!\w)0x(?:[0-9a-f]{64}|[0-9a-f]{8})(?!\w)/i.exec(line)?.[0] ??
  /^\s*"?([0-9a-f]{64}|[0-9a-f]{8})(?!\w)/i.exec(line)?.[1]

/** From a name to the bracket that closes the arguments; columns behind may have brackets too. */
const signatureIn = (line: string): string | undefined => {
  const start = /(?<![\w$])[A-Za-z_$][\w$]*\(/.exec(line)
  if (!start) return undefined
  let open = 0
  for (let at = start.index + start[0].length - 1; at < line.length; at++) {
    if (line[at] === '(') open++
    else if (line[at] === ')' && --open === 0) return line.slice(start.index, at + 1)
  }
  return undefined
}
