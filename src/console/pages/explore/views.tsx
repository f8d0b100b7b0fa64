import { useMemo } from 'preact/hooks'
import { Busy } from '../../parts/progress.tsx'
import { setQuery } from '../../shell/router.tsx'
import { Builder } from './builder.tsx'
import { Dsl } from './dsl.tsx'
import type { Catalogue } from './fields.ts'
import type { Search } from './state.ts'
import type { Draft } from './use-draft.ts'
import { knownValues } from './values.ts'

interface Props {
  search: Search
  draft: Draft
  catalogue: Catalogue | undefined
}

const VIEWS = [
  { name: 'conditions', title: 'Conditions' },
  { name: 'json', title: 'JSON' },
] as const

/** Further views of the query in the box, each open or not. */
export const Views = ({ search, draft, catalogue }: Props) => {
  const { network, kinds, view } = search
  const open = VIEWS.filter(({ name }) => view.split(',').includes(name)).map(({ name }) => name)
  const toggle = (name: string) => {
    const next = VIEWS.map(it => it.name).filter(it => (it === name) !== open.includes(it))
    setQuery({ view: next.join() }, { replace: true })
  }
  const values = useMemo(() => catalogue && knownValues(network, kinds, catalogue), [network, kinds.join(), catalogue])
  return (
    <div class="views">
      <div class="toggles">
        {VIEWS.map(({ name, title }) => (
          <button key={name} type="button" aria-expanded={open.includes(name)} onClick={() => toggle(name)}>
            {title}
          </button>
        ))}
      </div>
      {open.length > 0 && !(catalogue && values) && <Busy label="Reading which fields there are" />}
      {catalogue && values && open.includes('conditions') && (
        <Builder draft={draft} catalogue={catalogue} kinds={kinds} values={values} />
      )}
      {catalogue && values && open.includes('json') && (
        <Dsl draft={draft} network={network} kinds={kinds} catalogue={catalogue} values={values} />
      )}
    </div>
  )
}
