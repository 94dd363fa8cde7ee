"""What files hold that people have: pairs, scores, dialogues."""
