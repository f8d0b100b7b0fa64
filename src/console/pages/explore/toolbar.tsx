import { useState } from 'preact/hooks'
import { copyText } from '../../parts/copy.tsx'
import { CheckField } from '../../parts/field.tsx'
import { Menu } from '../../parts/menu.tsx'
import { PAGES } from '../../routes.ts'
import { useKey } from '../../shell/keys.ts'
import { navigate, setQuery } from '../../shell/router.tsx'
import type { Asked } from './body.ts'
import { Chooser } from './chooser.tsx'
import { DownloadDialog } from './download-dialog.tsx'
import type { Catalogue } from './fields.ts'
import { SavedSearches } from './saved.tsx'
import { curlOf, jsonOf, ruleHref } from './share.ts'
import type { Search } from './state.ts'

interface Props {
  search: Search
  asked: Asked | undefined
  total: number
  catalogue: Catalogue | undefined
  /** Has the catalogue read, which the columns are chosen from. */
  onWanted(): void
}

type Open = 'columns' | 'saved' | 'download'

/** What can be done with a search beside changing it. */
export const Toolbar = ({ search, asked, total, catalogue, onWanted }: Props) => {
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const follow = (follows: boolean) => setQuery({ follow: follows ? '1' : '', ...(follows && { sort: '' }) })
  useKey('f', 'Follows the chain, or stops', () => follow(!search.follows))
  const isRule = PAGES.some(({ paths }) => paths.some(path => path.startsWith('/rules')))
  const items = asked
    ? [
        { title: 'as a link', run: () => void copyText(location.href, 'the link') },
        { title: 'as curl', run: () => void copyText(curlOf(search, asked), 'the command') },
        { title: 'as JSON', run: () => void copyText(jsonOf(asked), 'the body') },
      ]
    : []
  return (
    <div class="tools">
      <CheckField label="Follow" checked={search.follows} onChange={follow} />
      <button
        type="button"
        onClick={() => {
          onWanted()
          setOpen('columns')
        }}
      >
        Columns
      </button>
      <button type="button" onClick={() => setOpen('saved')}>
        Saved
      </button>
      {asked && <Menu label="Copy" items={items} />}
      {asked && isRule && (
        <button type="button" onClick={() => navigate(ruleHref(search, asked))}>
          Make a rule
        </button>
      )}
      {asked && (
        <button type="button" onClick={() => setOpen('download')}>
          Download
        </button>
      )}
      {open === 'columns' && catalogue && (
        <Chooser columns={search.columns} catalogue={catalogue} kinds={search.kinds} onClose={close} />
      )}
      {open === 'saved' && <SavedSearches network={search.network} onClose={close} />}
      {open === 'download' && asked && <DownloadDialog search={search} asked={asked} total={total} onClose={close} />}
    </div>
  )
}
