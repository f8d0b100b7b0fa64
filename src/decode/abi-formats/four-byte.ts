import { isRecord } from '../../lib/record.ts'
import { type AbiFormat, fault, shown } from './format.ts'
import { type Listed, readListed } from './listed.ts'

/** What the API of 4byte.directory answers: `{"results": [{"text_signature", "hex_signature"}]}`, or the array of them alone. */
export const fourByte: AbiFormat = {
  is: ({ json }) =>
    (isRecord(json) && 'results' in json) || (Array.isArray(json) && isRecord(json[0]) && 'text_signature' in json[0]),
  read({ json }, place) {
    const results = isRecord(json) ? json.results : json
    if (!Array.isArray(results)) throw fault(place, 'results', `is ${shown(results)}, not an array`)
    const path = isRecord(json) ? 'results' : ''
    return readListed(
      results.map((entry, i): Listed => {
        const at = `${path}[${i}]`
        if (!isRecord(entry))
          throw fault(place, at, `is ${shown(entry)}, not {"text_signature": "…", "hex_signature": "0x…"}`)
        return { hash: entry.hex_signature, text: entry.text_signature, at }
      }),
      place,
    )
  },
}
