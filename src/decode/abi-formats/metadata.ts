import { isRecord } from '../../lib/record.ts'
import { type AbiFormat, fault, shown } from './format.ts'
import { readEntries } from './json-abi.ts'

/** A compiler's metadata, which Sourcify keeps as `metadata.json`: `{compiler, language, output: {abi}, settings, sources}`. */
export const metadata: AbiFormat = {
  is: ({ json }) => isRecord(json) && isRecord(json.output),
  read({ json }, place) {
    const { output, settings } = json as { output: { abi?: unknown }; settings?: unknown }
    if (!Array.isArray(output.abi)) throw fault(place, 'output.abi', `is ${shown(output.abi)}, not an array of entries`)
    const name = targetOf(settings)
    const abi = readEntries(output.abi, place, 'output.abi')
    return name === undefined ? abi : { name, ...abi }
  },
}

/** The contract that was compiled: all files of this form have the same name. */
const targetOf = (settings: unknown): string | undefined => {
  const target = isRecord(settings) && isRecord(settings.compilationTarget) ? settings.compilationTarget : {}
  const [name] = Object.values(target)
  return typeof name === 'string' && /^[\w$]+$/.test(name) ? name : undefined
}
