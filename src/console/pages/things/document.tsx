import { getDocument } from '../../api/index.ts'
import { useAsk } from '../../api/use-ask.ts'
import type { Kind } from '../../api/wire.ts'
import { Fault } from '../../parts/fault.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Busy } from '../../parts/progress.tsx'

/** The whole document, as the server has it. */
export const WholeDocument = ({ network, kind, id }: { network: string; kind: Kind; id: string }) => {
  const { data, error, again } = useAsk(`${network} ${kind} ${id}`, signal => getDocument(network, kind, id, signal))
  if (error !== undefined) return <Fault error={error} again={again} />
  return data ? <JsonView value={data._source} label="The document" /> : <Busy label="Reading the document" />
}
