// Sorts, maps and strings.
import java.util.*;

public class Words {
    static Map<String, Integer> count(List<String> words) {
        Map<String, Integer> out = new HashMap<>();
        for (String w : words)
            out.merge(w, 1, Integer::sum);
        return out;
    }

    public static void main(String[] args) {
        Random r = new Random(1);
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 1000000; i++)
            words.add("w" + r.nextInt(50000));
        long sum = 0;
        for (int i = 0; i < 12; i++) {
            List<Map.Entry<String, Integer>> l = new ArrayList<>(count(words).entrySet());
            l.sort(Map.Entry.comparingByValue());
            sum += l.get(0).getValue();
        }
        System.out.println(sum);
    }
}
