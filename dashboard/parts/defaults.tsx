/** What a version has learned to do where nobody says otherwise: values of arguments, and how it acts and replies. */
import type { ListedVersion } from "../../shared/api.ts";
import { aspectText, isAspect } from "../../shared/aspects.ts";
import { Table } from "./table.tsx";

export function Defaults({ learned }: { learned: ListedVersion["defaults"] }) {
  const [aspects, values] = [
    learned.filter(({ parameter }) => isAspect(parameter)),
    learned.filter(({ parameter }) => !isAspect(parameter)),
  ];
  return (
    <>
      {values.length > 0 && (
        <>
          <h2>What it uses where the user names nothing</h2>
          <Table label="Learned defaults" columns={["tool", "argument", "default", "instead of"]}>
            {values.map(({ tool, parameter, value, corrected, held }) => (
              <tr key={`${tool}/${parameter}`}>
                <td>{tool}</td>
                <td>
                  <code>{parameter}</code>
                </td>
                <td>{held === false ? "none any more: another was supplied" : <code>{value}</code>}</td>
                <td>{corrected === null ? "nothing" : <code>{corrected}</code>}</td>
              </tr>
            ))}
          </Table>
        </>
      )}
      {aspects.length > 0 && (
        <>
          <h2>How it acts and replies</h2>
          <ul>
            {aspects.map((each) => (
              <li key={`${each.tool}/${each.parameter}`}>{aspectText(each)}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
