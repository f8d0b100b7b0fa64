import { execFileSync } from 'node:child_process'
import { createReadStream, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Declaration, hashOf } from './declaration.ts'
import { readHuman } from './human.ts'

export interface Found {
  declaration: Declaration
  /** From the ABI of a contract whose source was verified; otherwise from lists of signatures, without names of arguments. */
  verified: boolean
}

/**
 * Of a signature that only lists have, as many functions must have the name. Lists hold what anybody put there and what was
 * scraped from source, internal functions among it, half a million that hardly one call has: those that are worth
 * their bytes are the further forms of names that are in use.
 */
const FORMS = 10

/**
 * The functions in the dump of `panoramix-decompiler`, a line of JSON for each selector: without events and errors, without names
 * made up for selectors that nobody knows (`unknown12345678`), without what does not hash to its selector.
 */
export async function* readPanoramix(folder: string): AsyncGenerator<Found> {
  yield* select(createInterface({ input: createReadStream(unpack(join(folder, 'panoramix/data/abi_dump'))) }))
}

export async function* select(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Found> {
  const forms = new Map<string, number>()
  const listed: Declaration[] = []
  for await (const line of lines) {
    const { selector, abi } = JSON.parse(line) as Entry
    if ((abi.type !== undefined && abi.type !== 'function') || /^unknown[0-9a-f]{8}$/.test(abi.name)) continue
    // Its tuples are written as in signatures or with components, at random.
    const [declaration] = readHuman(`function ${abi.name}(${abi.inputs.map(format).join(', ')})`, new Map())
    if (declaration === undefined || hashOf(declaration) !== selector) continue
    forms.set(abi.name, (forms.get(abi.name) ?? 0) + 1)
    if (abi.type === undefined) listed.push(declaration)
    else yield { declaration, verified: true }
  }
  for (const declaration of listed) if (forms.get(declaration.name)! >= FORMS) yield { declaration, verified: false }
}

interface Entry {
  selector: string
  abi: { name: string; type?: string; inputs: Input[] }
}

interface Input {
  name: string
  type: string
  components?: Input[]
}

const format = ({ name, type, components }: Input): string => {
  const spelt = components === undefined ? type : `(${components.map(format).join(', ')})${type.slice('tuple'.length)}`
  return /^_param\d+$/.test(name) ? spelt : `${spelt} ${name}`
}

/** Python has the decompressor that Node lacks. */
function unpack(path: string): string {
  if (!existsSync(path)) {
    const program = 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"))'
    execFileSync('python3', ['-c', program, `${path}.xz`, `${path}.partial`])
    renameSync(`${path}.partial`, path)
  }
  return path
}
