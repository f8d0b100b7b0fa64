import { useMemo } from 'preact/hooks'
import { getStatus } from '../../../api/index.ts'
import type { JsonObject } from '../../../api/json.ts'
import { useAsk } from '../../../api/use-ask.ts'
import { Fault } from '../../../parts/fault.tsx'
import { Busy } from '../../../parts/progress.tsx'
import { announce } from '../../../parts/toast.tsx'
import { plain } from '../../../parts/visible.ts'
import { Link, navigate, useQueryState } from '../../../shell/router.tsx'
import { createRule } from '../api.ts'
import { conditionsOf } from '../from-query.ts'
import { emptyRule, putConfig, TARGETS } from '../model.ts'
import { OFFERS } from '../offers.ts'
import { forgetDraft, useDraft } from './drafts.ts'
import { RuleEditor } from './editor.tsx'

/** A new rule: empty, one of those to try, or from a search (`from`, with `network` and `kinds` as Explore has them). */
export const New = () => {
  const status = useAsk('status', getStatus)
  const [from] = useQueryState('from')
  const [kinds] = useQueryState('kinds')
  const [asked] = useQueryState('network')
  const [offer] = useQueryState('offer')
  if (status.error !== undefined && !status.data)
    return <Fault title="The networks cannot be read" error={status.error} again={status.again} />
  if (!status.data) return <Busy label="Reading which networks there are" />
  const network = asked || status.data.networks[0]?.network || 'ethereum/ethereum/mainnet'
  const key = `new ${network} ${offer} ${kinds} ${from}`
  return <Form key={key} name={key} network={network} from={from} kinds={kinds} offer={offer} />
}

interface Props {
  name: string
  network: string
  from: string
  kinds: string
  offer: string
}

const Form = ({ name, network, from, kinds, offer }: Props) => {
  const { rule, left } = useMemo(() => begin(network, from, kinds, offer), [name])
  const draft = useDraft(name, rule, undefined)
  const save = async (body: JsonObject) => {
    const { rule } = await createRule(body)
    forgetDraft(name)
    announce('Created the rule.')
    navigate(`/rules/${rule.id}`, { replace: true })
  }
  return (
    <>
      <p class="way">
        <Link to="/rules">All rules</Link>
      </p>
      <h1>New rule</h1>
      {left.length > 0 && (
        <div class="note" role="status">
          <p>The search is not taken over as a whole:</p>
          <ul>
            {left.map(it => (
              <li key={it}>{plain(it).slice(0, 500)}</li>
            ))}
          </ul>
        </div>
      )}
      <RuleEditor draft={draft} action="Create the rule" save={save} onCancel={() => navigate('/rules')} />
    </>
  )
}

const begin = (
  network: string,
  from: string,
  kindText: string,
  offer: string,
): { rule: JsonObject; left: readonly string[] } => {
  const offered = OFFERS.find(({ name }) => name === offer)
  if (offered) return { rule: offered.rule, left: [] }
  const empty = emptyRule(network)
  const kinds = kindText.split(',').filter(kind => kind !== '')
  const target = TARGETS.find(({ kind }) => kind === kinds[0])
  const typed = target ? putConfig(empty, 'targetType', target.type) : empty
  const { conditions, left } = conditionsOf(from)
  const several = `A rule looks at one kind of documents: this one at "${kinds[0]}", and not at ${kinds.slice(1).join(', ')}.`
  return {
    rule: conditions.length > 0 ? putConfig(typed, 'targetMap', conditions) : typed,
    left: kinds.length > 1 ? [several, ...left] : left,
  }
}
