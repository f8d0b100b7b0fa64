import type { PageProps } from '../../routes.ts'
import { usePlace } from '../../shell/router.tsx'
import { Edit, New } from './editor.tsx'
import { RuleList } from './list.tsx'
import { RulePage } from './rule.tsx'

/** The list of rules, one of them, and the editor. */
const Rules = ({ parameters }: PageProps) => {
  const { path } = usePlace()
  const id = parameters.get('id')
  return (
    <div class="rules">
      {id === undefined ? (
        path.startsWith('/rules/new') ? (
          <New />
        ) : (
          <RuleList />
        )
      ) : path.endsWith('/edit') ? (
        <Edit key={id} id={id} />
      ) : (
        <RulePage key={id} id={id} />
      )}
    </div>
  )
}

export default Rules
