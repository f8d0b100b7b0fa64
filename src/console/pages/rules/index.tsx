import { useAddress } from '../../browser/router.tsx'
import type { PageProps } from '../../routes.ts'
import { Edit, New } from './editor.tsx'
import { RuleList } from './list.tsx'
import { RulePageAnswer } from './rule.tsx'

const shownAt = (path: string, id: string | undefined) => {
  if (id === undefined) return path.startsWith('/rules/new') ? <New /> : <RuleList />
  return path.endsWith('/edit') ? <Edit key={id} id={id} /> : <RulePageAnswer key={id} id={id} />
}

export default ({ parameters }: PageProps) => (
  <div class="rules">{shownAt(useAddress().path, parameters.get('id'))}</div>
)
